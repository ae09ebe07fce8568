"""The store in the interface of LangGraph, beside its own store in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memoranda import Memoranda

base = pytest.importorskip("langgraph.store.base")
in_memory = pytest.importorskip("langgraph.store.memory")
adapter = pytest.importorskip("memoranda.langgraph")


@pytest.fixture(params=["memoranda", "in-memory"])
def store(request: pytest.FixtureRequest, memory: Memoranda) -> Any:
    """Every test holds for the reference store too, so that it tests the interface."""
    if request.param == "in-memory":
        return in_memory.InMemoryStore()
    return adapter.MemorandaStore(memory, folder=f"langgraph-{request.node.originalname[:30].replace('_', '-')}")


def test_items_are_put_read_replaced_and_deleted(store: Any) -> None:
    store.put(("users", "U 1"), "Prefs/1", {"food": "pizza", "n": [1, {"x": None}]})
    item = store.get(("users", "U 1"), "Prefs/1")
    assert item.value == {"food": "pizza", "n": [1, {"x": None}]}
    assert (item.namespace, item.key) == (("users", "U 1"), "Prefs/1")
    assert item.created_at.tzinfo is not None and item.updated_at >= item.created_at
    assert store.get(("users", "u 1"), "Prefs/1") is None
    assert store.get(("users",), "Prefs/1") is None
    store.put(("users", "U 1"), "Prefs/1", {"food": "pasta"})
    assert store.get(("users", "U 1"), "Prefs/1").value == {"food": "pasta"}
    store.delete(("users", "U 1"), "Prefs/1")
    store.delete(("users", "U 1"), "Prefs/1")
    assert store.get(("users", "U 1"), "Prefs/1") is None


def test_a_search_filters_and_pages(store: Any) -> None:
    for number in range(5):
        store.put(("docs", "a"), f"k{number}", {"number": number, "kind": "odd" if number % 2 else "even"})
    store.put(("docs", "b"), "k", {"number": 9, "kind": "odd"})
    store.put(("docsx",), "k", {"number": 10})
    assert len(store.search(("docs",), limit=20)) == 6
    assert len(store.search(("docs", "a"))) == 5
    assert {item.value["number"] for item in store.search(("docs",), filter={"kind": "odd"})} == {1, 3, 9}
    assert {item.value["number"] for item in store.search(("docs",), filter={"number": {"$gte": 4}})} == {4, 9}
    assert {i.value["number"] for i in store.search(("docs", "a"), filter={"kind": {"$ne": "odd"}})} == {0, 2, 4}
    first = [item.key for item in store.search(("docs", "a"), limit=2)]
    rest = [item.key for item in store.search(("docs", "a"), limit=9, offset=2)]
    assert len(first) == 2 and sorted(first + rest) == [f"k{number}" for number in range(5)]
    assert store.search(("none",)) == []


def test_namespaces_are_listed(store: Any) -> None:
    for namespace in [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "x", "c"), ("Z",)]:
        store.put(namespace, "k", {"v": 1})
    assert set(store.list_namespaces()) == {("a", "b", "c"), ("a", "b", "d", "e"), ("a", "x", "c"), ("Z",)}
    assert set(store.list_namespaces(prefix=("a", "b"))) == {("a", "b", "c"), ("a", "b", "d", "e")}
    assert set(store.list_namespaces(suffix=("c",))) == {("a", "b", "c"), ("a", "x", "c")}
    assert set(store.list_namespaces(prefix=("a", "*", "c"))) == {("a", "b", "c"), ("a", "x", "c")}
    assert set(store.list_namespaces(max_depth=2)) == {("a", "b"), ("a", "x"), ("Z",)}
    assert len(store.list_namespaces(limit=1, offset=1)) == 1


def test_a_batch_reads_before_it_writes(store: Any) -> None:
    results = store.batch(
        [
            base.GetOp(("n",), "k"),
            base.PutOp(("n",), "k", {"v": 1}),
            base.PutOp(("n",), "k", {"v": 2}),
        ]
    )
    assert results == [None, None, None]
    assert store.get(("n",), "k").value == {"v": 2}


def test_async_calls_do_the_same(store: Any) -> None:
    async def run() -> None:
        await store.aput(("n",), "k", {"v": 1})
        item = await store.aget(("n",), "k")
        assert item.value == {"v": 1}
        assert [found.key for found in await store.asearch(("n",))] == ["k"]
        assert await store.alist_namespaces() == [("n",)]
        await store.adelete(("n",), "k")
        assert await store.aget(("n",), "k") is None

    asyncio.run(run())


def test_bad_namespaces_are_rejected(store: Any) -> None:
    for namespace in [(), ("a.b",), ("",), ("langgraph",)]:
        with pytest.raises(base.InvalidNamespaceError):
            store.put(namespace, "k", {"v": 1})
    with pytest.raises(NotImplementedError):
        store.put(("n",), "k", {"v": 1}, ttl=5)


def test_a_query_ranks_by_meaning(memory: Memoranda) -> None:
    store = adapter.MemorandaStore(memory, folder="langgraph-ranked")
    store.put(("facts",), "food", {"text": "I love pizza and pasta"})
    store.put(("facts",), "car", {"text": "The car needs new tyres"})
    store.put(("other",), "food", {"text": "Pizza is for Fridays"})
    found = store.search(("facts",), query="italian food")
    assert found[0].key == "food" and found[0].score is not None
    assert all(item.namespace == ("facts",) for item in found)
    assert "pizza and pasta" in memory.recall("pizza").text


def test_a_graph_uses_the_store(memory: Memoranda) -> None:
    graphs = pytest.importorskip("langgraph.graph")
    config = pytest.importorskip("langgraph.config")

    def node(state: Any) -> Any:
        store = config.get_store()
        store.put(("runs",), "last", {"name": state["name"]})
        return {"name": store.get(("runs",), "last").value["name"].upper()}

    builder = graphs.StateGraph(dict)
    builder.add_node("node", node)
    builder.add_edge(graphs.START, "node")
    graph = builder.compile(store=adapter.MemorandaStore(memory, folder="langgraph-graph"))
    assert graph.invoke({"name": "ann"}) == {"name": "ANN"}
