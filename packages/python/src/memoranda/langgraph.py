"""A LangGraph store on Memoranda: `BaseStore`, with an item for each note.

from memoranda.langgraph import MemorandaStore

store = MemorandaStore()
graph = builder.compile(store=store)
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from ._client import Memoranda
from ._documents import NoteFolder


class MemorandaStore(BaseStore):
    """Items as notes of a project. Search is by words and meaning, without an embedding model.

    :param memory: the client; by default one for the vault of this machine
    :param project: project of the notes, made on first use
    :param folder: folder of the notes in the project
    """

    def __init__(
        self,
        memory: Optional[Memoranda] = None,
        *,
        project: str = "agents",
        folder: str = "langgraph",
    ) -> None:
        self._notes = NoteFolder(memory or Memoranda(client="langgraph"), project, folder)

    def batch(self, ops: Iterable[Op]) -> List[Result]:
        """Executes operations: all reads first, then the last write of each item."""
        results: List[Result] = []
        writes: Dict[Tuple[Tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, GetOp):
                results.append(self._item(op.namespace, op.key))
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._list_namespaces(op))
            elif isinstance(op, PutOp):
                writes[(op.namespace, op.key)] = op
                results.append(None)
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        for op in writes.values():
            self._write(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> List[Result]:
        """Executes operations in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _write(self, op: PutOp) -> None:
        names = [*op.namespace, op.key]
        if op.value is None:
            self._notes.delete(names)
            return
        now = datetime.now(timezone.utc).isoformat()
        before = self._notes.read(names)
        self._notes.write(
            names,
            {
                "value": op.value,
                "key": op.key,
                "namespace": list(op.namespace),
                "created_at": before["created_at"] if before else now,
                "updated_at": now,
            },
        )

    def _item(self, namespace: Tuple[str, ...], key: str) -> Optional[Item]:
        document = self._notes.read([*namespace, key])
        if document is None or (tuple(document["namespace"]), document["key"]) != (namespace, key):
            return None
        return Item(**_members(document))

    def _search(self, op: SearchOp) -> List[SearchItem]:
        prefix = op.namespace_prefix
        hits: Iterable[Tuple[List[str], Optional[float]]]
        if op.query:
            hits = self._notes.search(op.query, prefix)
        else:
            hits = ((names, None) for names in self._notes.list(prefix))
        found: List[SearchItem] = []
        for names, score in hits:
            if len(found) >= op.offset + op.limit:
                break
            document = self._notes.read(names)
            if document is None or tuple(document["namespace"][: len(prefix)]) != tuple(prefix):
                continue
            if op.filter and not _matches(document["value"], op.filter):
                continue
            found.append(SearchItem(**_members(document), score=score))
        return found[op.offset :]

    def _list_namespaces(self, op: ListNamespacesOp) -> List[Tuple[str, ...]]:
        namespaces: Set[Tuple[str, ...]] = set()
        for names in self._notes.list():
            namespace = tuple(names[:-1])
            if any("_." in name for name in namespace):
                document = self._notes.read(names)
                namespace = tuple(document["namespace"]) if document else namespace
            if all(_fits(condition, namespace) for condition in op.match_conditions or ()):
                namespaces.add(namespace[: op.max_depth])
        return sorted(namespaces)[op.offset : op.offset + op.limit]


def _members(document: Dict[str, Any]) -> Dict[str, Any]:
    return {
        "value": document["value"],
        "key": document["key"],
        "namespace": tuple(document["namespace"]),
        "created_at": datetime.fromisoformat(document["created_at"]),
        "updated_at": datetime.fromisoformat(document["updated_at"]),
    }


def _fits(condition: MatchCondition, namespace: Tuple[str, ...]) -> bool:
    path: Sequence[str] = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        pairs = zip(namespace, path)
    elif condition.match_type == "suffix":
        pairs = zip(reversed(namespace), reversed(path))
    else:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(wanted in ("*", part) for part, wanted in pairs)


def _matches(value: Any, wanted: Any) -> bool:
    """Compares a value with a filter, as the other stores of LangGraph do."""
    if isinstance(wanted, dict):
        if any(key.startswith("$") for key in wanted):
            return all(_compare(value, operator, other) for operator, other in wanted.items())
        return isinstance(value, dict) and all(
            _matches(value.get(key), other) for key, other in wanted.items()
        )
    if isinstance(wanted, (list, tuple)):
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(wanted)
            and all(_matches(one, other) for one, other in zip(value, wanted))
        )
    return bool(value == wanted)


def _compare(value: Any, operator: str, other: Any) -> bool:
    if operator == "$eq":
        return bool(value == other)
    if operator == "$ne":
        return bool(value != other)
    if value is None:
        return False
    if operator == "$gt":
        return float(value) > float(other)
    if operator == "$gte":
        return float(value) >= float(other)
    if operator == "$lt":
        return float(value) < float(other)
    if operator == "$lte":
        return float(value) <= float(other)
    raise ValueError(f"Unsupported operator: {operator}")
