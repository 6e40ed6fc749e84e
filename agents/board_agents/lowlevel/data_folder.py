"""The folder of tablebases and opening books."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FOLDER_VARIABLE = "BOARD_ENVS_TABLES"
"""Environment variable that overrides the default folder."""


def default_folder() -> Path:
    """Return the folder of the tables: $BOARD_ENVS_TABLES, or "board_envs/tables" in the user's data folder."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "board_envs" / "tables"
