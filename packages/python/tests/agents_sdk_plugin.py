"""Puts Memoranda in the place of the session of the OpenAI Agents SDK that the SDK's own tests use.

A pytest plugin: `pytest -p agents_sdk_plugin`, with MEMORANDA_BIN naming the binary.
"""

from __future__ import annotations

import hashlib
import itertools
import tempfile
from typing import Any

import agents.extensions.memory as extensions

from memoranda import Memoranda
from memoranda.openai_agents import MemorandaSession

_numbers = itertools.count()
_vault = tempfile.TemporaryDirectory()
_memory = Memoranda(home=f"{_vault.name}/vault", client="agents-sdk-tests")


class SessionOfTests(MemorandaSession):
    """Takes the arguments of the SDK's session; each database is a folder."""

    def __init__(self, session_id: str, db_path: Any = ":memory:", **options: Any) -> None:
        name = str(next(_numbers)) if db_path == ":memory:" else str(db_path)
        folder = "sdk-" + hashlib.sha256(name.encode()).hexdigest()[:12]
        super().__init__(session_id, _memory, folder=folder, **options)

    async def close(self) -> None:
        """The tests close every session."""


def pytest_configure() -> None:
    extensions.AsyncSQLiteSession = SessionOfTests  # type: ignore[misc,assignment]


def pytest_unconfigure() -> None:
    _memory.close()
    _vault.cleanup()
