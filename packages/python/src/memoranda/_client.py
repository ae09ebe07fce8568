"""The client: four verbs, and every tool and route below them."""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Type

from ._api import (
    AsyncPageCalls,
    AsyncToolCalls,
    ForgetResult,
    GetContextResult,
    PageCalls,
    RecallResult,
    RememberResult,
    ToolAnswer,
    ToolCalls,
)
from ._server import OwnServer, ServerAddress, find_server, resolve_program
from ._transport import HttpTransport
from ._version import VERSION

MemoryKind = Literal["rule", "decision", "preference", "fact", "skill", "note"]
MemoryScope = Literal["person", "repository"]


class _Connection:
    """Chooses the server, and ends the one that it started."""

    def __init__(
        self,
        url: Optional[str],
        token: Optional[str],
        home: Optional[str],
        program: Optional[str],
        client: Optional[str],
        repository: Optional[str],
        timeout: float,
    ) -> None:
        self._url = url or (None if home else os.environ.get("MEMORANDA_URL"))
        self._token = token or os.environ.get("MEMORANDA_TOKEN")
        self._home = home
        self._program = program
        self._server: Optional[OwnServer] = None
        headers = {
            "User-Agent": client or f"memoranda-python/{VERSION}",
            "X-MCP-Toolsets": "all",
        }
        if repository:
            headers["X-Memoranda-Repository"] = repository
        self.transport = HttpTransport(self._locate, headers, timeout)

    def _locate(self) -> ServerAddress:
        if self._url:
            return ServerAddress(self._url, self._token)
        program = resolve_program(self._program)
        running = find_server(program, self._home)
        if running is not None:
            return running
        self._server = OwnServer(program, self._home)
        return self._server.address

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None


class Memoranda:
    """A client of Memoranda.

    Without arguments it uses MEMORANDA_URL and MEMORANDA_TOKEN, or else the server of the vault
    that runs on this machine, or else starts one, which ends with the client.

    :param url: address of a server, such as `http://127.0.0.1:7337`
    :param token: its token (`memoranda token` prints it)
    :param home: folder of another vault
    :param program: path of the program `memoranda`
    :param client: name of your program, which the history shows, such as `my-agent/1.0`
    :param repository: repository that calls are about, such as `github.com/acme/shop`
    :param timeout: maximum seconds for an answer
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        home: Optional[str] = None,
        program: Optional[str] = None,
        client: Optional[str] = None,
        repository: Optional[str] = None,
        timeout: float = 60.0,
    ) -> None:
        self._connection = _Connection(url, token, home, program, client, repository, timeout)
        transport = self._connection.transport
        self.tools = ToolCalls(transport.call_tool)
        self.page = PageCalls(transport.request_page)

    def remember(
        self,
        content: str,
        *,
        kind: Optional[MemoryKind] = None,
        scope: Optional[MemoryScope] = None,
        tags: Optional[Sequence[str]] = None,
        replaces: Optional[str] = None,
        repository: Optional[str] = None,
    ) -> ToolAnswer[RememberResult]:
        """Remembers one statement. Kind and scope are guessed if absent."""
        return self.tools.remember(
            content,
            kind=kind,
            scope=scope,
            tags=_list(tags),
            replaces=replaces,
            project_id=repository,
        )

    def recall(
        self,
        query: Optional[str] = None,
        *,
        kinds: Optional[Sequence[str]] = None,
        project: Optional[str] = None,
        since: Optional[str] = None,
        as_of: Optional[str] = None,
        max_tokens: Optional[int] = None,
        min_relevance: Optional[float] = None,
    ) -> ToolAnswer[RecallResult]:
        """Searches everything. `text` is ready for a prompt, `data["passages"]` for a program."""
        return self.tools.recall(
            query=query,
            kinds=_list(kinds),
            project=project,
            since=since,
            as_of=as_of,
            max_tokens=max_tokens,
            min_relevance=min_relevance,
        )

    def context(
        self,
        query: Optional[str] = None,
        *,
        repository: Optional[str] = None,
        budget_tokens: Optional[int] = None,
    ) -> ToolAnswer[GetContextResult]:
        """Returns rules, the person, what is due and what is relevant, for the start of a task."""
        return self.tools.get_context(
            query=query, project_id=repository, budget_tokens=budget_tokens
        )

    def forget(
        self, id: Optional[str] = None, *, name: Optional[str] = None, query: Optional[str] = None
    ) -> ToolAnswer[ForgetResult]:
        """Forgets one memory. `memoranda undo` brings it back."""
        return self.tools.forget(id=id, name=name, query=query)

    def undo(self, commit: str) -> str:
        """Undoes a commit, and returns the commit that does so."""
        return self.page.undo(commits=[commit])["commit"]

    def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer[Any]:
        """Calls a tool by its name."""
        return self._connection.transport.call_tool(name, arguments)

    def call_memory_tool(self, tool_input: Mapping[str, Any]) -> Dict[str, Any]:
        """Executes a command of Claude's memory tool and returns the `tool_result` block."""
        return self._connection.transport.call_memory_tool(tool_input)

    @property
    def url(self) -> str:
        """Address of the server."""
        return self._connection.transport.address().url

    def close(self) -> None:
        """Ends the server that the client started, if it did."""
        self._connection.close()

    def __enter__(self) -> Memoranda:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


class AsyncMemoranda:
    """The same client for `asyncio`. Requests run in threads, so that the event loop goes on."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        home: Optional[str] = None,
        program: Optional[str] = None,
        client: Optional[str] = None,
        repository: Optional[str] = None,
        timeout: float = 60.0,
    ) -> None:
        self._connection = _Connection(url, token, home, program, client, repository, timeout)
        self.tools = AsyncToolCalls(self.call_tool)
        self.page = AsyncPageCalls(self._request_page)

    async def remember(
        self,
        content: str,
        *,
        kind: Optional[MemoryKind] = None,
        scope: Optional[MemoryScope] = None,
        tags: Optional[Sequence[str]] = None,
        replaces: Optional[str] = None,
        repository: Optional[str] = None,
    ) -> ToolAnswer[RememberResult]:
        """Remembers one statement. Kind and scope are guessed if absent."""
        return await self.tools.remember(
            content,
            kind=kind,
            scope=scope,
            tags=_list(tags),
            replaces=replaces,
            project_id=repository,
        )

    async def recall(
        self,
        query: Optional[str] = None,
        *,
        kinds: Optional[Sequence[str]] = None,
        project: Optional[str] = None,
        since: Optional[str] = None,
        as_of: Optional[str] = None,
        max_tokens: Optional[int] = None,
        min_relevance: Optional[float] = None,
    ) -> ToolAnswer[RecallResult]:
        """Searches everything. `text` is ready for a prompt, `data["passages"]` for a program."""
        return await self.tools.recall(
            query=query,
            kinds=_list(kinds),
            project=project,
            since=since,
            as_of=as_of,
            max_tokens=max_tokens,
            min_relevance=min_relevance,
        )

    async def context(
        self,
        query: Optional[str] = None,
        *,
        repository: Optional[str] = None,
        budget_tokens: Optional[int] = None,
    ) -> ToolAnswer[GetContextResult]:
        """Returns rules, the person, what is due and what is relevant, for the start of a task."""
        return await self.tools.get_context(
            query=query, project_id=repository, budget_tokens=budget_tokens
        )

    async def forget(
        self, id: Optional[str] = None, *, name: Optional[str] = None, query: Optional[str] = None
    ) -> ToolAnswer[ForgetResult]:
        """Forgets one memory. `memoranda undo` brings it back."""
        return await self.tools.forget(id=id, name=name, query=query)

    async def undo(self, commit: str) -> str:
        """Undoes a commit, and returns the commit that does so."""
        return (await self.page.undo(commits=[commit]))["commit"]

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer[Any]:
        """Calls a tool by its name."""
        return await asyncio.to_thread(self._connection.transport.call_tool, name, arguments)

    async def _request_page(
        self, method: str, path: str, arguments: Mapping[str, Any], required: Sequence[str]
    ) -> Any:
        request = self._connection.transport.request_page
        return await asyncio.to_thread(request, method, path, arguments, required)

    async def call_memory_tool(self, tool_input: Mapping[str, Any]) -> Dict[str, Any]:
        """Executes a command of Claude's memory tool and returns the `tool_result` block."""
        return await asyncio.to_thread(self._connection.transport.call_memory_tool, tool_input)

    async def close(self) -> None:
        """Ends the server that the client started, if it did."""
        await asyncio.to_thread(self._connection.close)

    async def __aenter__(self) -> AsyncMemoranda:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()


def _list(values: Optional[Sequence[str]]) -> Optional[List[str]]:
    return None if values is None else list(values)
