"""`python -m memoranda`: starts the program with the same arguments."""

from __future__ import annotations

import os
import subprocess
import sys

from ._program import ProgramNotFoundError, find_program


def main() -> int:
    try:
        program = find_program()
    except ProgramNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    arguments = [program, *sys.argv[1:]]
    if os.name == "nt":
        # `os.execv` on Windows returns to the shell before the program ends.
        return subprocess.run(arguments, check=False).returncode
    os.execv(program, arguments)


if __name__ == "__main__":
    sys.exit(main())
