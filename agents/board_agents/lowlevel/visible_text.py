"""Texts from outside (names in files, what programs print) made safe to show."""

from __future__ import annotations

import re

# Control characters drive a terminal; marks of direction and line separators make a text look like another one.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Return a text with "?" for each character that a terminal or a page would obey rather than show.

    Tabs and line ends stay.
    """
    return _HIDDEN.sub("?", text)
