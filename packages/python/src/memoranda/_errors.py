"""Errors of the client."""

from __future__ import annotations

from typing import Any, Dict


class MemorandaError(Exception):
    """Base of every error of this package."""


class ServerUnreachableError(MemorandaError):
    """No server answers at the address, or none could be started."""


class RequestRefusedError(MemorandaError):
    """The server refused a request (RFC 9457)."""

    def __init__(self, problem: Dict[str, Any]) -> None:
        self.status: int = problem.get("status", 0)
        self.code: str = problem.get("code", "")
        self.detail: str = problem.get("detail") or problem.get("title") or f"status {self.status}"
        self.problem = problem
        super().__init__(self.detail)


class ToolFailedError(MemorandaError):
    """A tool answered with an error that the caller can correct: the text says how."""

    def __init__(self, tool: str, text: str, data: Dict[str, Any]) -> None:
        self.tool = tool
        self.text = text
        self.data = data
        super().__init__(text)
