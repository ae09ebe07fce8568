"""A real server for each test module, with a vault of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Iterator

import pytest

from memoranda import Memoranda

BINARY = os.environ.get("MEMORANDA_BIN") or shutil.which("memoranda")


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test may reach the vault of the person who runs it."""
    assert BINARY, "MEMORANDA_BIN must name the program"
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MEMORANDA_"))}
    patch = pytest.MonkeyPatch()
    for name in set(os.environ) - set(kept):
        patch.delenv(name)
    patch.setenv("HOME", str(home))
    patch.setenv("MEMORANDA_BIN", BINARY)
    yield home
    patch.undo()


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("vault") / "vault")


@pytest.fixture(scope="module")
def memory(vault: str) -> Iterator[Memoranda]:
    with Memoranda(home=vault, client="tests/1") as client:
        yield client
