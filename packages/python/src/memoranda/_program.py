"""Finds the program that the wheel installs."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Iterator


class ProgramNotFoundError(FileNotFoundError):
    """The program `memoranda` is neither in this environment nor on the PATH."""


def find_program() -> str:
    """Returns the path of the program of this environment, or else of the one on the PATH."""
    name = "memoranda.exe" if os.name == "nt" else "memoranda"
    for directory in _script_directories():
        candidate = directory / name
        if candidate.is_file():
            return str(candidate)
    on_path = shutil.which("memoranda")
    if on_path is None:
        raise ProgramNotFoundError(
            "the program memoranda is not installed here: install the wheel with "
            "`pip install --force-reinstall memoranda`"
        )
    return on_path


def _script_directories() -> Iterator[Path]:
    yield Path(sysconfig.get_path("scripts"))
    # `pip install --target DIR` and `--prefix DIR` put the scripts next to the package.
    package = Path(__file__).resolve().parent
    for parent in list(package.parents)[:4]:
        yield parent / ("Scripts" if os.name == "nt" else "bin")
    if sys.version_info >= (3, 10):
        user_scheme = sysconfig.get_preferred_scheme("user")
    else:
        user_scheme = "nt_user" if os.name == "nt" else "posix_user"
    yield Path(sysconfig.get_path("scripts", scheme=user_scheme))
