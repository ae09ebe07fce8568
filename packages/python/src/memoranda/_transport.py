"""HTTP with the standard library: one connection for each request."""

from __future__ import annotations

import http.client
import json
import threading
from typing import Any, Callable, Dict, Mapping, Optional, Sequence
from urllib.parse import urlencode, urlsplit

from ._api import ToolAnswer
from ._errors import RequestRefusedError, ServerUnreachableError, ToolFailedError
from ._server import ServerAddress


class HttpTransport:
    """Sends requests to one server. Safe to use from several threads."""

    def __init__(
        self,
        locate: Callable[[], ServerAddress],
        headers: Mapping[str, str],
        timeout: float,
    ) -> None:
        self._locate = locate
        self._headers = dict(headers)
        self._timeout = timeout
        self._lock = threading.Lock()
        self._address: Optional[ServerAddress] = None
        self._session: Optional[str] = None

    def address(self) -> ServerAddress:
        """Returns the address; the first call finds the server, or starts it."""
        with self._lock:
            if self._address is None:
                self._address = self._locate()
            return self._address

    def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer[Any]:
        """Calls a tool. `None` stands for an absent argument."""
        answer = self.send("POST", f"/api/tools/{name}", given(arguments))
        if answer["is_error"]:
            raise ToolFailedError(name, answer["text"], answer["structured"])
        return ToolAnswer(answer["text"], answer["structured"])

    def call_memory_tool(self, tool_input: Mapping[str, Any]) -> Dict[str, Any]:
        """Executes a command of Claude's memory tool and returns the `tool_result` block."""
        result: Dict[str, Any] = self.send("POST", "/api/memory-tool", dict(tool_input))
        return result

    def request_page(
        self, method: str, path: str, arguments: Mapping[str, Any], required: Sequence[str]
    ) -> Any:
        """Calls a route of the page, with a session that the token is exchanged for."""
        if self._session is None:
            token = self.address().token
            signed_in = self.send("POST", "/api/page/session", {"token": token})
            self._session = signed_in["session"]
        arguments = given(arguments, required)
        try:
            return self.send(method, path, arguments, self._session)
        except RequestRefusedError as error:
            # A server that was started again with another token ends every session.
            if error.status == 401:
                self._session = None
            raise

    def send(
        self, method: str, path: str, arguments: Dict[str, Any], credential: Optional[str] = None
    ) -> Any:
        """Sends a request and returns the decoded answer."""
        address = self.address()
        headers = dict(self._headers)
        credential = credential or address.token
        if credential:
            headers["Authorization"] = f"Bearer {credential}"
        body: Optional[bytes] = None
        if method == "GET":
            query = {name: _query_value(value) for name, value in arguments.items()}
            path = f"{path}?{urlencode(query)}" if query else path
        else:
            headers["Content-Type"] = "application/json"
            body = json.dumps(arguments).encode()
        parts = urlsplit(address.url)
        connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = connect(parts.netloc, timeout=self._timeout)
        try:
            connection.request(method, parts.path.rstrip("/") + path, body, headers)
            response = connection.getresponse()
            status, text = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise ServerUnreachableError(f"{address.url} does not answer: {error}") from error
        finally:
            connection.close()
        try:
            answer = json.loads(text)
        except ValueError:
            answer = {"detail": text[:200].decode("utf-8", "replace")}
        if status >= 400:
            raise RequestRefusedError({"status": status, **answer})
        return answer


def given(arguments: Mapping[str, Any], required: Sequence[str] = ()) -> Dict[str, Any]:
    """Leaves out absent arguments. A required one may be null."""
    return {name: value for name, value in arguments.items() if value is not None or name in required}


def _query_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
