"""The client against the real program."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from memoranda import (
    AsyncMemoranda,
    Memoranda,
    RequestRefusedError,
    ServerUnreachableError,
    ToolFailedError,
)


def test_what_is_remembered_is_recalled_and_forgotten(memory: Memoranda) -> None:
    kept = memory.remember("The kitchen tap takes cartridge 46374", tags=["home"])
    assert kept.data["effect"] == "stored" and kept.data["kind"] == "fact"
    found = memory.recall("tap cartridge")
    assert "46374" in found.text
    passage = found.data["passages"][0]
    assert passage["id"] == kept.data["id"] and passage["author"] == "tests/1"
    assert "46374" in memory.context("tap").text
    assert memory.forget(kept.data["id"]).data["forgotten"]
    assert memory.recall("tap cartridge").data["count"] == 0


def test_a_write_can_be_undone(memory: Memoranda) -> None:
    written = memory.tools.write_note("Boiler", "Warranty lapses in June.", "house")
    assert memory.tools.read_note("Boiler").data["content"].endswith("Warranty lapses in June.\n")
    commit = written.data.get("commit")
    assert commit is not None
    history = memory.page.history(project="main")["items"]
    assert history[0]["commit"] == commit and history[0]["client"] == "tests/1"
    assert memory.undo(commit) != commit
    with pytest.raises(ToolFailedError) as failure:
        memory.tools.read_note("Boiler")
    assert failure.value.tool == "read_note" and "Boiler" in str(failure.value)


def test_every_kind_of_refusal_has_its_error(memory: Memoranda) -> None:
    with pytest.raises(RequestRefusedError) as refusal:
        memory.call_tool("no_such_tool", {})
    assert (refusal.value.status, refusal.value.code) == (404, "not-found")
    with pytest.raises(RequestRefusedError) as refusal:
        Memoranda(memory.url, "wrong-token-of-this-server").recall("x")
    assert refusal.value.status == 401
    with pytest.raises(RequestRefusedError) as refusal:
        Memoranda(memory.url, "wrong-token-of-this-server").page.status()
    assert refusal.value.code == "wrong-token"
    with pytest.raises(ServerUnreachableError):
        Memoranda("http://127.0.0.1:1").recall("x")


def test_a_note_is_saved_only_over_the_version_that_it_began_as(memory: Memoranda) -> None:
    saved = memory.page.note_put("main", "plan.md", "One.\n", None)
    assert saved["saved"] and memory.page.note(project="main", path="plan.md")["hash"] == saved["hash"]
    with pytest.raises(RequestRefusedError) as refusal:
        memory.page.note_put("main", "plan.md", "Two.\n", None)
    assert (refusal.value.status, refusal.value.code) == (409, "conflict")
    assert refusal.value.problem["theirs"] == "One.\n"


def test_a_repository_has_its_own_memories(vault: str, memory: Memoranda) -> None:
    with Memoranda(home=vault, repository="github.com/acme/shop") as client:
        kept = client.remember("Use pnpm in this repository", kind="rule", scope="repository")
        assert kept.data.get("repository") == "github.com/acme/shop"
        assert "pnpm" in client.context().text
    assert "pnpm" not in memory.context().text


def test_a_second_client_uses_the_server_that_runs(vault: str, memory: Memoranda) -> None:
    url = memory.url
    with Memoranda(home=vault) as second:
        assert second.url == url
    # Only the client that started the server ends it.
    assert memory.recall("anything").data["count"] >= 0


def test_the_server_ends_with_its_client(tmp_path: Path) -> None:
    client = Memoranda(home=str(tmp_path / "vault"))
    url = client.url
    client.close()
    with pytest.raises(ServerUnreachableError):
        Memoranda(url, "any-token-at-all-here").recall("x")


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ServerUnreachableError, match="did not start"):
        Memoranda(home=str(tmp_path / "file" / "vault")).recall("x")


def test_async_calls_run_at_the_same_time(vault: str, memory: Memoranda) -> None:
    async def run() -> None:
        async with AsyncMemoranda(memory.url, memory._connection.transport.address().token) as client:
            kept = await asyncio.gather(
                *(client.remember(f"Shelf {number} holds the {number} mm screws") for number in range(8))
            )
            assert len({one.data["id"] for one in kept}) == 8
            found = await client.recall("Which shelf holds the 7 mm screws?")
            assert "Shelf 7" in found.text
            assert (await client.page.status())["counts"]["notes"] >= 8
            commit = kept[0].data.get("commit")
            assert commit is not None and await client.undo(commit)
            with pytest.raises(ToolFailedError):
                await client.forget("no-such-id")

    asyncio.run(run())


def test_every_read_only_tool_and_route_answers(memory: Memoranda) -> None:
    memory.tools.write_note("Garden", "Tulips next to the [[Shed]].", "house", tags=["garden"])
    assert memory.tools.search_notes(query="tulips").data["results"][0]["title"] == "Garden"
    assert memory.tools.list_directory(dir_name="house").data["nodes"]
    assert memory.tools.list_memory_projects().data["default_project"] == "main"
    assert memory.page.search(q="tulips")["hits"][0]["path"] == "house/Garden.md"
    around = memory.page.note_around("main", "house/Garden.md")
    assert around["out"][0]["target"]["name"] == "Shed"
    assert memory.page.note_versions("main", "house/Garden.md")["items"][0]["action"] == "added"


def test_the_module_starts_the_program() -> None:
    done = subprocess.run(
        [os.environ["MEMORANDA_BIN"], "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("memoranda ")
