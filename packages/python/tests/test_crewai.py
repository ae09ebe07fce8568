"""CrewAI: the storage in its protocol, and the memory with its tools."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memoranda import Memoranda

backend = pytest.importorskip("crewai.memory.storage.backend")
types = pytest.importorskip("crewai.memory.types")
adapter = pytest.importorskip("memoranda.crewai")


def test_the_storage_has_the_protocol(memory: Memoranda) -> None:
    storage = adapter.MemorandaStorage(memory, folder="crewai-storage")
    assert isinstance(storage, backend.StorageBackend)
    old = types.MemoryRecord(
        content="Tyres", scope="/car", embedding=[1.0, 0.0], created_at=datetime.utcnow() - timedelta(days=9)
    )
    new = types.MemoryRecord(
        content="Pizza", scope="/food/home", categories=["x"], metadata={"a": 1}, embedding=[0.6, 0.8]
    )
    storage.save([old, new])
    assert storage.get_record(new.id).embedding == pytest.approx([0.6, 0.8])
    assert [record.content for record, _ in storage.search([1.0, 0.0])] == ["Tyres", "Pizza"]
    assert [r.content for r, _ in storage.search([1.0, 0.0], min_score=0.9)] == ["Tyres"]
    assert [r.content for r, _ in storage.search([1.0, 0.0], scope_prefix="/food")] == ["Pizza"]
    assert [r.content for r, _ in storage.search([1.0, 0.0], metadata_filter={"a": 1})] == ["Pizza"]
    assert [record.content for record in storage.list_records()] == ["Pizza", "Tyres"]
    assert storage.list_scopes() == ["/car", "/food"] and storage.list_scopes("/food") == ["/food/home"]
    assert storage.list_categories() == {"x": 1} and storage.count("/food") == 1
    info = storage.get_scope_info("/")
    assert info.record_count == 2 and info.child_scopes == ["/car", "/food"]
    storage.update(new.model_copy(update={"content": "Pasta"}))
    assert storage.get_record(new.id).content == "Pasta"
    assert storage.delete(older_than=datetime.utcnow() - timedelta(days=1)) == 1
    storage.reset()
    assert storage.count() == 0 and storage.get_record(new.id) is None


def test_the_memory_needs_no_model(memory: Memoranda) -> None:
    tools = pytest.importorskip("crewai.tools.memory_tools")
    memory.remember("The office closes at six on Fridays")
    crew_memory = adapter.MemorandaMemory(memory)
    assert crew_memory.remember("The boiler warranty lapses in June", scope="/house").scope == "/house"
    assert crew_memory.remember_many(["Pizza is for Fridays"])
    found = crew_memory.recall("When does the warranty of the boiler end?", depth="shallow", limit=1)
    assert found[0].record.content == "The boiler warranty lapses in June"
    assert any("closes at six" in one.record.content for one in crew_memory.recall("office closes Fridays"))
    assert crew_memory.recall("boiler warranty", scope="/garden") == []
    named = {tool.name: tool for tool in tools.create_memory_tools(crew_memory)}
    text = " ".join(str(tool.run(queries=["boiler warranty"])) for name, tool in named.items() if "earch" in name)
    assert "lapses in June" in text
    crew_memory.forget(scope="/house")
    assert crew_memory.recall("boiler warranty", scope="/house") == []
