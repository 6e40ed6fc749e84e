"""The examples are programs, not a package: the tests import them by their folders."""

import sys
from pathlib import Path

_EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path[:0] = [str(_EXAMPLES), str(_EXAMPLES / "recipes")]
