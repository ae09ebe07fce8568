"""One memory for all of your agents, in a folder of Markdown that you own.

from memoranda import Memoranda

with Memoranda() as memory:
    memory.remember("The kitchen tap takes cartridge 46374", tags=["home"])
    print(memory.recall("tap cartridge").text)
"""

from ._api import ToolAnswer
from ._client import AsyncMemoranda, Memoranda
from ._errors import (
    MemorandaError,
    RequestRefusedError,
    ServerUnreachableError,
    ToolFailedError,
)
from ._program import ProgramNotFoundError, find_program
from ._version import VERSION as __version__

__all__ = [
    "AsyncMemoranda",
    "Memoranda",
    "MemorandaError",
    "ProgramNotFoundError",
    "RequestRefusedError",
    "ServerUnreachableError",
    "ToolAnswer",
    "ToolFailedError",
    "__version__",
    "find_program",
]
