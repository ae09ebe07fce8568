"""A session of the OpenAI Agents SDK on Memoranda: one note for each conversation.

from agents import Runner
from memoranda.openai_agents import MemorandaSession

result = await Runner.run(agent, "Hello", session=MemorandaSession("conversation-1"))
"""

from __future__ import annotations

import asyncio
from typing import Any, Dict, List, Optional, Union, cast

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings
from agents.memory.session_settings import resolve_session_limit

from ._client import Memoranda
from ._documents import NoteFolder, Transcript


class MemorandaSession(SessionABC):
    """The history of one conversation, readable and searchable as a note.

    :param session_id: name of the conversation
    :param memory: the client; by default one for the vault of this machine
    :param project: project of the notes, made on first use
    :param folder: folder of the notes in the project
    """

    def __init__(
        self,
        session_id: str,
        memory: Optional[Memoranda] = None,
        *,
        project: str = "agents",
        folder: str = "openai-agents",
        session_settings: Optional[Union[SessionSettings, Dict[str, Any]]] = None,
    ) -> None:
        self.session_id = session_id
        if isinstance(session_settings, dict):
            session_settings = SessionSettings(**session_settings)
        self.session_settings = session_settings or SessionSettings()
        notes = NoteFolder(memory or Memoranda(client="openai-agents"), project, folder)
        self._transcript = Transcript(notes, session_id)

    async def get_items(self, limit: Optional[int] = None) -> List[TResponseInputItem]:
        """Returns the latest items, the oldest of them first."""
        limit = resolve_session_limit(limit, self.session_settings)
        items = await asyncio.to_thread(self._transcript.items)
        kept = items if limit is None else items[-limit:] if limit > 0 else []
        return cast("List[TResponseInputItem]", kept)

    async def add_items(self, items: List[TResponseInputItem]) -> None:
        """Adds items in one write."""
        await asyncio.to_thread(self._transcript.append, cast("List[Any]", items))

    async def pop_item(self) -> Optional[TResponseInputItem]:
        """Removes the newest item and returns it."""
        item = await asyncio.to_thread(self._transcript.remove, -1)
        return cast("Optional[TResponseInputItem]", item)

    async def clear_session(self) -> None:
        """Deletes the note. The history keeps it."""
        await asyncio.to_thread(self._transcript.clear)
