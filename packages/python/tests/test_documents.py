"""Names of documents as file names."""

from __future__ import annotations

import pytest

from memoranda import Memoranda
from memoranda._documents import NoteFolder, Transcript, decode_name, documents_in, encode_name


@pytest.mark.parametrize("name", ["a", "", "_", "User 1", "a/b", "../x", "con", "é", "日本", "a.b", "-", "__", "x" * 60])
def test_names_survive_the_file_system(name: str) -> None:
    encoded = encode_name(name)
    assert encoded and encoded == encoded.lower() and "/" not in encoded
    assert decode_name(encoded) == name


def test_different_names_have_different_files() -> None:
    names = ["a", "A", "_41", "a ", " a", "x" * 200, "x" * 201]
    assert len({encode_name(name) for name in names}) == len(names)
    assert max(len(encode_name(name)) for name in names) <= 120


def test_a_block_that_a_person_broke_is_left_out() -> None:
    text = '```json\n{"a": 1}\n```\ntext\n```json\n{"a": \n```\n```json\n[1]\n```\n```json\n{"a": 2}\n```\n'
    assert documents_in(text) == [{"a": 1}, {"a": 2}]


def test_documents_keep_every_text(memory: Memoranda) -> None:
    notes = NoteFolder(memory, "agents", "documents")
    document = {"text": "```json\n{}\n```\n---\ntitle: x\n", "nested": {"list": [1, None, "é"]}}
    notes.write(["A/b", "key"], document)
    assert notes.read(["A/b", "key"]) == document
    assert notes.read(["a/b", "key"]) is None
    assert list(notes.list()) == [["A/b", "key"]]
    assert list(notes.list(["A/b"])) == [["A/b", "key"]] and list(notes.list(["other"])) == []
    assert notes.delete(["A/b", "key"]) and not notes.delete(["A/b", "key"])


def test_several_writers_lose_no_item(memory: Memoranda) -> None:
    from concurrent.futures import ThreadPoolExecutor

    transcript = Transcript(NoteFolder(memory, "agents", "transcripts"), "Shared session")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: transcript.append([{"number": number}]), range(24)))
        assert sorted(item["number"] for item in transcript.items()) == list(range(24))
        removed = list(pool.map(lambda _: transcript.remove(-1), range(8)))
    assert len({item["number"] for item in removed if item}) == 8
    assert len(transcript.items()) == 16
    assert transcript.clear() and transcript.items() == []
