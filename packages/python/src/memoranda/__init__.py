"""One memory for all of your agents, in a folder of Markdown that you own."""

from ._program import ProgramNotFoundError, find_program

__all__ = ["ProgramNotFoundError", "find_program"]
