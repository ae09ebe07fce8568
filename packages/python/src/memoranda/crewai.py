"""CrewAI on Memoranda: a memory that needs no model, and a storage for CrewAI's own memory.

from crewai import Crew
from memoranda.crewai import MemorandaMemory

crew = Crew(agents=[...], tasks=[...], memory=MemorandaMemory())
"""

from __future__ import annotations

import asyncio
import base64
import math
from array import array
from datetime import datetime
from typing import Any, Dict, Iterable, Iterator, List, Literal, Optional, Tuple

from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo
from crewai.memory.unified_memory import Memory
from pydantic import PrivateAttr

from ._client import Memoranda
from ._documents import NoteFolder


class MemorandaStorage:
    """The storage of `crewai.Memory`: records as notes, with the vector of each in its document.

    :param memory: the client; by default one for the vault of this machine
    :param project: project of the notes, made on first use
    :param folder: folder of the notes in the project
    """

    def __init__(
        self,
        memory: Optional[Memoranda] = None,
        *,
        project: str = "agents",
        folder: str = "crewai",
    ) -> None:
        self.notes = NoteFolder(memory or Memoranda(client="crewai"), project, folder)

    def save(self, records: List[MemoryRecord]) -> None:
        """Saves records."""
        for record in records:
            document: Dict[str, Any] = record.model_dump(mode="json", exclude={"embedding"})
            if record.embedding:
                vector = array("f", record.embedding).tobytes()
                document["embedding"] = base64.b64encode(vector).decode()
            self.notes.write([record.id], document)

    def update(self, record: MemoryRecord) -> None:
        """Replaces the record with the same id."""
        self.save([record])

    def get_record(self, record_id: str) -> Optional[MemoryRecord]:
        """Returns a record by its id."""
        document = self.notes.read([record_id])
        return _record(document) if document else None

    def search(
        self,
        query_embedding: List[float],
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        metadata_filter: Optional[Dict[str, Any]] = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> List[Tuple[MemoryRecord, float]]:
        """Finds records by the similarity of their vectors."""
        found = []
        for record in self.matching(scope_prefix, categories, metadata_filter):
            score = _cosine(query_embedding, record.embedding or [])
            if record.embedding and score >= min_score:
                found.append((record, score))
        found.sort(key=lambda one: one[1], reverse=True)
        return found[:limit]

    def search_text(
        self,
        query: str,
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        limit: int = 10,
    ) -> List[Tuple[MemoryRecord, float]]:
        """Finds records by words and meaning, with the search of Memoranda."""
        found: List[Tuple[MemoryRecord, float]] = []
        for names, relevance in self.notes.search(query):
            record = self.get_record(names[-1])
            if record is not None and _fits(record, scope_prefix, categories, None):
                found.append((record, relevance))
            if len(found) >= limit:
                break
        return found

    def delete(
        self,
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        record_ids: Optional[List[str]] = None,
        older_than: Optional[datetime] = None,
        metadata_filter: Optional[Dict[str, Any]] = None,
    ) -> int:
        """Deletes records, and returns their number. The history keeps them."""
        doomed = [
            record.id
            for record in self.matching(scope_prefix, categories, metadata_filter)
            if (record_ids is None or record.id in record_ids)
            and (older_than is None or record.created_at < older_than)
        ]
        return sum(self.notes.delete([record_id]) for record_id in doomed)

    def list_records(
        self, scope_prefix: Optional[str] = None, limit: int = 200, offset: int = 0
    ) -> List[MemoryRecord]:
        """Lists records, the newest first."""
        records = sorted(
            self.matching(scope_prefix), key=lambda record: record.created_at, reverse=True
        )
        return records[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Describes a scope."""
        records = list(self.matching(scope))
        times = [record.created_at for record in records]
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted({name for record in records for name in record.categories}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=_children(scope, (record.scope for record in records)),
        )

    def list_scopes(self, parent: str = "/") -> List[str]:
        """Lists the scopes directly below another."""
        return _children(parent, (record.scope for record in self.matching(parent)))

    def list_categories(self, scope_prefix: Optional[str] = None) -> Dict[str, int]:
        """Counts the records of each category."""
        counts: Dict[str, int] = {}
        for record in self.matching(scope_prefix):
            for name in record.categories:
                counts[name] = counts.get(name, 0) + 1
        return counts

    def count(self, scope_prefix: Optional[str] = None) -> int:
        """Counts records."""
        return sum(1 for _ in self.matching(scope_prefix))

    def reset(self, scope_prefix: Optional[str] = None) -> None:
        """Deletes all records of a scope. The history keeps them."""
        self.delete(scope_prefix=scope_prefix)

    async def asave(self, records: List[MemoryRecord]) -> None:
        """Saves records in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(
        self, query_embedding: List[float], *args: Any, **options: Any
    ) -> List[Tuple[MemoryRecord, float]]:
        """Finds records in a thread."""
        return await asyncio.to_thread(self.search, query_embedding, *args, **options)

    async def adelete(self, *args: Any, **options: Any) -> int:
        """Deletes records in a thread."""
        return await asyncio.to_thread(self.delete, *args, **options)

    def matching(
        self,
        scope_prefix: Optional[str] = None,
        categories: Optional[List[str]] = None,
        metadata_filter: Optional[Dict[str, Any]] = None,
    ) -> Iterator[MemoryRecord]:
        """Reads the records that fit."""
        for names in self.notes.list():
            record = self.get_record(names[-1])
            if record is not None and _fits(record, scope_prefix, categories, metadata_filter):
                yield record


class MemorandaMemory(Memory):
    """CrewAI's memory with the search of Memoranda: no embedding model and no key are needed.

    `recall` also finds what other agents and people wrote, unless `own_records_only` is set.
    """

    own_records_only: bool = False
    _storage_: MemorandaStorage = PrivateAttr()

    def __init__(self, memory: Optional[Memoranda] = None, **options: Any) -> None:
        storage = MemorandaStorage(memory)
        super().__init__(storage=storage, **options)
        self._storage_ = storage

    def remember(
        self,
        content: str,
        scope: Optional[str] = None,
        categories: Optional[List[str]] = None,
        metadata: Optional[Dict[str, Any]] = None,
        importance: Optional[float] = None,
        source: Optional[str] = None,
        private: bool = False,
        agent_role: Optional[str] = None,
        root_scope: Optional[str] = None,
    ) -> Optional[MemoryRecord]:
        """Keeps one text as a record."""
        if self.read_only:
            return None
        record = MemoryRecord(
            content=content,
            scope=_joined(root_scope or self.root_scope, scope),
            categories=categories or [],
            metadata={**(metadata or {}), **({"agent_role": agent_role} if agent_role else {})},
            importance=0.5 if importance is None else importance,
            source=source,
            private=private,
        )
        self._storage_.save([record])
        return record

    def remember_many(self, contents: List[str], *args: Any, **options: Any) -> List[MemoryRecord]:
        """Keeps several texts."""
        kept = (self.remember(content, *args, **options) for content in contents)
        return [record for record in kept if record is not None]

    def recall(
        self,
        query: str,
        scope: Optional[str] = None,
        categories: Optional[List[str]] = None,
        limit: int = 10,
        depth: Literal["shallow", "deep"] = "deep",
        source: Optional[str] = None,
        include_private: bool = False,
    ) -> List[MemoryMatch]:
        """Finds records, and with depth `deep` what others wrote, too."""
        scope = _joined(self.root_scope, scope) if scope or self.root_scope else None
        matches = [
            MemoryMatch(record=record, score=relevance, match_reasons=["words", "meaning"])
            for record, relevance in self._storage_.search_text(query, scope, categories, limit)
            if include_private or not record.private or (source and record.source == source)
        ]
        if depth == "deep" and not (scope or categories or self.own_records_only):
            matches += self._elsewhere(query)
            matches.sort(key=lambda match: match.score, reverse=True)
        return matches[:limit]

    def _elsewhere(self, query: str) -> List[MemoryMatch]:
        own = f"{self._storage_.notes.project}/{self._storage_.notes.folder}/"
        found = self._storage_.notes.memory.recall(query).data["passages"]
        matches = []
        for passage in found:
            place = passage["places"][0] if passage["places"] else ""
            if place.startswith(own):
                continue
            record = MemoryRecord(
                id=passage.get("id", place),
                content=passage["text"],
                source=passage.get("author"),
                metadata={"place": place, "kind": passage["kind"]},
            )
            matches.append(MemoryMatch(record=record, score=passage.get("relevance", 0.0)))
        return matches


def _record(document: Dict[str, Any]) -> MemoryRecord:
    vector = document.pop("embedding", None)
    record = MemoryRecord.model_validate(document)
    if vector:
        numbers = array("f")
        numbers.frombytes(base64.b64decode(vector))
        record.embedding = numbers.tolist()
    return record


def _fits(
    record: MemoryRecord,
    scope_prefix: Optional[str],
    categories: Optional[List[str]],
    metadata_filter: Optional[Dict[str, Any]],
) -> bool:
    prefix = (scope_prefix or "").rstrip("/")
    return (
        (not prefix or record.scope == prefix or record.scope.startswith(f"{prefix}/"))
        and (not categories or any(name in record.categories for name in categories))
        and all(record.metadata.get(key) == one for key, one in (metadata_filter or {}).items())
    )


def _children(parent: str, scopes: Iterable[str]) -> List[str]:
    prefix = parent.rstrip("/") + "/"
    inner = (scope[len(prefix) :] for scope in scopes if scope.startswith(prefix))
    return sorted({prefix + rest.split("/", 1)[0] for rest in inner if rest})


def _joined(root: Optional[str], scope: Optional[str]) -> str:
    parts = [part for text in (root, scope) for part in (text or "").split("/") if part]
    return "/" + "/".join(parts)


def _cosine(one: List[float], other: List[float]) -> float:
    if len(one) != len(other):
        return 0.0
    length = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other)) / length if length else 0.0
