"""Make texts from outside (names in files, output of programs) safe to show."""

from __future__ import annotations

import re

# Control characters act on a terminal; direction marks and line separators disguise a text.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Return a text with "?" for each control character of a terminal or a page.

    Tabs and line ends are kept.
    """
    return _HIDDEN.sub("?", text)
