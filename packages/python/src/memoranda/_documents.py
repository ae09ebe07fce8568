"""JSON documents as notes: one note for each, with the document in a code block.

The notes are searchable and readable as any other, and each change is in the history.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ._client import Memoranda
from ._errors import MemorandaError, ToolFailedError

_BLOCK = re.compile(r"^```json\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_MAX_TOKENS = 1_000_000
_RACES = {"NOTE_ALREADY_EXISTS", "NOTE_NOT_FOUND"}
_ABSENT = {"NOTE_NOT_FOUND", "PROJECT_NOT_FOUND", "DIRECTORY_NOT_FOUND"}
_MAX_NAME = 120
_WRITE_ATTEMPTS = 20


class NoteFolder:
    """Documents in one folder of one project. A document is named by a path of any texts."""

    def __init__(self, memory: Memoranda, project: str, folder: str) -> None:
        self.memory = memory
        self.project = project
        self.folder = folder
        self._has_project = False

    def write(self, names: Sequence[str], document: Dict[str, Any]) -> None:
        """Writes a document, over the one that is there."""
        text = json.dumps(document, ensure_ascii=False, indent=1)
        self.write_text(names, f"```json\n{text}\n```\n")

    def write_text(
        self, names: Sequence[str], text: str, expected_checksum: Optional[str] = None
    ) -> None:
        """Writes the whole text of a note."""
        self._ensure_project()
        directory, title = self._place(names)
        self.memory.tools.write_note(
            title,
            text,
            directory,
            project=self.project,
            overwrite=True,
            expected_checksum=expected_checksum,
        )

    def append_text(self, names: Sequence[str], text: str) -> None:
        """Appends a text to a note, which is made if it does not exist."""
        self._ensure_project()
        directory, title = self._place(names)
        for attempt in range(_WRITE_ATTEMPTS):
            try:
                path = f"{directory}/{title}.md"
                self.memory.tools.edit_note(path, "append", text, project=self.project)
                return
            except ToolFailedError as error:
                # Another writer makes the note at the same time.
                if error.data.get("error") not in _RACES or attempt + 1 == _WRITE_ATTEMPTS:
                    raise
                time.sleep(0.01 * attempt)

    def read(self, names: Sequence[str]) -> Optional[Dict[str, Any]]:
        """Returns a document; `None` if there is none."""
        found = self.read_text(names)
        blocks = documents_in(found[0]) if found else []
        return blocks[0] if blocks else None

    def read_text(self, names: Sequence[str]) -> Optional[Tuple[str, str]]:
        """Returns the text of a note and its checksum; `None` if there is none."""
        directory, title = self._place(names)
        path = f"{directory}/{title}.md"
        try:
            data: Dict[str, Any] = dict(
                self.memory.tools.read_content(
                    path, project=self.project, max_tokens=_MAX_TOKENS
                ).data
            )
        except ToolFailedError as error:
            _raise_unless_absent(error)
            return None
        if data["cut_bytes"]:
            raise MemorandaError(f"{self.project}/{path} is too long to be read at once")
        return (data["text"], data["checksum"]) if data["file_path"] == path else None

    def delete(self, names: Sequence[str]) -> bool:
        """Deletes a document. Returns false if there is none."""
        directory, title = self._place(names)
        if self.read_text(names) is None:
            return False
        self.memory.tools.delete_note(f"{directory}/{title}.md", project=self.project)
        return True

    def list(self, prefix: Sequence[str] = ()) -> Iterator[List[str]]:
        """Lists the names of the documents below a prefix, the last changed first."""
        directory = "/".join([self.folder, *(encode_name(name) for name in prefix)])
        page, has_more = 1, True
        while has_more:
            try:
                listing = self.memory.tools.list_directory(
                    dir_name=directory,
                    depth=10,
                    sort="updated_desc",
                    page=page,
                    page_size=200,
                    project=self.project,
                ).data
            except ToolFailedError as error:
                _raise_unless_absent(error)
                return
            for node in listing["nodes"]:
                if "file_path" in node:
                    yield self._names(node["file_path"])
            page, has_more = page + 1, listing["has_more"]

    def search(self, query: str, prefix: Sequence[str] = ()) -> Iterator[Tuple[List[str], float]]:
        """Finds documents below a prefix by words and meaning, the best first."""
        wanted = "/".join([self.folder, *(encode_name(name) for name in prefix)]) + "/"
        page, has_more = 1, True
        while has_more:
            try:
                found = self.memory.tools.search_notes(
                    query=query,
                    project=self.project,
                    page=page,
                    page_size=100,
                    min_relevance=0.0,
                    passages=False,
                ).data
            except ToolFailedError as error:
                _raise_unless_absent(error)
                return
            for hit in found["results"]:
                if hit["file_path"].startswith(wanted):
                    yield self._names(hit["file_path"]), float(hit.get("relevance", 0.0))
            page, has_more = page + 1, found["has_more"]

    def _place(self, names: Sequence[str]) -> Tuple[str, str]:
        *folders, title = [encode_name(name) for name in names]
        return "/".join([self.folder, *folders]), title

    def _names(self, file_path: str) -> List[str]:
        inner = file_path[len(self.folder) + 1 :]
        return [decode_name(part) for part in inner.removesuffix(".md").split("/")]

    def _ensure_project(self) -> None:
        if self._has_project:
            return
        known = [one["name"] for one in self.memory.tools.list_memory_projects().data["projects"]]
        if self.project not in known:
            self.memory.tools.create_memory_project(self.project)
        self._has_project = True


class Transcript:
    """A list of JSON items as a note, one code block for each."""

    def __init__(self, folder: NoteFolder, name: str) -> None:
        self._folder = folder
        self._names = [name]

    def items(self) -> List[Dict[str, Any]]:
        """Returns all items, the oldest first."""
        found = self._folder.read_text(self._names)
        return documents_in(found[0]) if found else []

    def append(self, items: Sequence[Any]) -> None:
        """Appends items in one write."""
        if items:
            self._folder.append_text(self._names, _blocks(items))

    def replace(self, items: Sequence[Any]) -> None:
        """Replaces all items."""
        self._folder.write_text(self._names, _blocks(items))

    def remove(self, index: int) -> Optional[Dict[str, Any]]:
        """Removes one item and returns it; `None` if it does not exist."""
        for _ in range(_WRITE_ATTEMPTS):
            found = self._folder.read_text(self._names)
            items = documents_in(found[0]) if found else []
            if found is None or not -len(items) <= index < len(items):
                return None
            removed = items.pop(index)
            try:
                self._folder.write_text(self._names, _blocks(items), expected_checksum=found[1])
                return removed
            except ToolFailedError as error:
                if error.data.get("error") != "CHECKSUM_MISMATCH":
                    raise
        raise ToolFailedError("write_note", f"{self._names[0]} changes all the time", {})

    def clear(self) -> bool:
        """Deletes the note. Returns false if there is none."""
        return self._folder.delete(self._names)


def _raise_unless_absent(error: ToolFailedError) -> None:
    if error.data.get("error") not in _ABSENT:
        raise error


def documents_in(text: str) -> List[Dict[str, Any]]:
    """Returns the JSON objects in the code blocks of a note. Blocks that a person broke are left out."""
    found = []
    for block in _BLOCK.findall(text):
        try:
            value = json.loads(block)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def encode_name(name: str) -> str:
    """Writes any text as a file name in lower case; a long one ends in its hash."""
    encoded = "".join(
        char if char in "abcdefghijklmnopqrstuvwxyz0123456789-" else _escape(char) for char in name
    )
    if len(encoded) > _MAX_NAME:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{encoded[:100].rstrip('_')}_.{digest}"
    return encoded or "_"


def decode_name(encoded: str) -> str:
    """Reads a file name back. A name that was cut stays as it is: the document contains the whole."""
    if "_." in encoded or encoded == "_":
        return encoded if encoded != "_" else ""
    parts = re.findall(r"__|_([0-9a-f]{2})|([^_]+)", encoded)
    data = b""
    for escaped, plain in parts:
        data += bytes([int(escaped, 16)]) if escaped else (plain.encode() if plain else b"_")
    return data.decode("utf-8", "replace")


def _escape(char: str) -> str:
    if char == "_":
        return "__"
    return "".join(f"_{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))


def _blocks(items: Sequence[Any]) -> str:
    lines = (json.dumps(item, ensure_ascii=False) for item in items)
    return "".join(f"```json\n{line}\n```\n" for line in lines)
