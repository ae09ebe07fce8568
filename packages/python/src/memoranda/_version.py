"""Version of the installed package."""

from importlib import metadata

try:
    VERSION = metadata.version("memoranda")
except metadata.PackageNotFoundError:
    # The sources are used without an installation.
    VERSION = "0"
