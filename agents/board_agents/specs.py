"""The grammar of spec strings: text -> name and typed parameters.

| form | names |
| --- | --- |
| ``name:key=value,key=value`` | an agent or oracle of the registry, with keyword arguments |
| ``package.module:Name`` | an agent, class or function of an importable module |
| ``path/file.py:name`` | the same from a Python file, which is run |

The last two take parameters after another colon: ``file.py:Name:depth=3``. Types come from the annotations of
the function or class. A value or path that contains a comma needs double quotes.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import types
import typing
from collections.abc import Callable
from typing import Any

from board_envs.types import SpecError

_CUT = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')
_PAIR = re.compile(r'\s*([A-Za-z_]\w*)\s*=\s*("[^"]*"|[^,"]*?)\s*(?:,|$)')
_CODE = re.compile(r'\s*("[^"]+\.py"|[^"=]+?\.py|[A-Za-z_][\w.]*)\s*:\s*([A-Za-z_]\w*)\s*(?::(.*))?', re.DOTALL)


def split_specs(text: str) -> list[str]:
    """Split "random,alpha-beta:depth=4,ties=random,greedy" into specs.

    A part "key=value" belongs to the spec before it; commas in double quotes do not split. Raise SpecError if a part is
    empty.
    """
    specs: list[str] = []
    for number, piece in enumerate(_CUT.split(text), 1):
        head = piece.strip()
        if not head:
            raise SpecError(f"part {number} of {text!r} is empty; separate agents by one comma")
        if specs and re.match(r"[A-Za-z_]\w*\s*=", head) and ":" in specs[-1]:
            specs[-1] += "," + head
        else:
            specs.append(head)
    return specs


def split_name(spec: str, is_known: Callable[[str], bool]) -> tuple[str, str]:
    """Split a spec into its name and the text of its parameters.

    The first part is a known name, or "module:Name", or "file.py:name" (without quotes); anything else is
    returned up to the first colon.
    """
    name, _, rest = spec.partition(":")
    if (code := _CODE.fullmatch(spec)) and not is_known(name.strip()):
        place = code[1].strip('"')
        return f"{place}:{code[2]}", code[3] or ""
    return name.strip(), rest


def unknown_name(kind: str, name: str, known: list[str]) -> SpecError:
    """Return the error for an unknown name; it suggests a similar one and lists all."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return SpecError(f"unknown {kind} {name!r}{hint}; known {kind}s: {', '.join(known)}")


def spec_parameters(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters that a spec may set: all but the first, the game."""
    signature = inspect.signature(make)
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return dict([(key, value) for key, value in signature.parameters.items() if value.kind in named][1:])


def read_parameters(label: str, text: str, make: Callable[..., Any]) -> dict[str, Any]:
    """Parse "key=value,key=value" into keyword arguments of `make`.

    Args:
        label: prefix of each message, such as "agent 'alpha-beta:depth=x'".
        text: the parameters.
        make: the function or class called with the game and these arguments.

    Raises:
        SpecError: invalid text; a parameter that is unknown, missing or given twice; an invalid value.

    """
    known, hints = _described_class(make) if isinstance(make, type) else _described(make)
    offered = f"parameters: {', '.join(known)}" if known else "it has no parameters"
    values: dict[str, Any] = {}
    position = 0
    while position < len(text):
        match = _PAIR.match(text, position)
        if match is None:
            raise SpecError(f"{label}: {text[position:]!r} is not key=value; {offered}")
        key, value, position = match[1], match[2].strip('"'), match.end()
        if key not in known:
            raise SpecError(f"{label}: unknown parameter {key!r}; {offered}")
        if key in values:
            raise SpecError(f"{label}: {key} is given twice")
        try:
            values[key] = _convert(value, hints[key])
        except ValueError as error:
            raise SpecError(f"{label}: {key} must be {error}, not {value!r}") from None
    missing = [key for key, parameter in known.items() if parameter.default is parameter.empty and key not in values]
    if missing:
        raise SpecError(f"{label}: missing {', '.join(missing)}; {offered}")
    return values


def _described(make: Callable[..., Any]) -> tuple[dict[str, inspect.Parameter], dict[str, Any]]:
    known = spec_parameters(make)
    return known, _hints(make, known)


_described_class = functools.lru_cache(maxsize=256)(_described)
"""Annotations are slow to read, and a tournament makes the agents of each game anew."""
_BUILTIN: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}


def _hints(make: Callable[..., Any], known: dict[str, inspect.Parameter]) -> dict[str, Any]:
    """Return each parameter's type: its annotation if it can be resolved, else the type of its default, else str."""
    try:
        hints = typing.get_type_hints(make.__init__ if isinstance(make, type) else make)  # type: ignore[misc]
    except (NameError, TypeError):
        # Names imported only for type checkers, or no annotations.
        written = {key: parameter.annotation for key, parameter in known.items()}
        hints = {key: _BUILTIN[text] for key, text in written.items() if isinstance(text, str) and text in _BUILTIN}
    for key, parameter in known.items():
        plain = isinstance(parameter.default, (bool, int, float, str))
        hints.setdefault(key, type(parameter.default) if plain else str)
    return hints


def _convert(text: str, hint: Any) -> Any:
    """Convert a text to the type of an annotation; ValueError states the expected type."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        choices = typing.get_args(hint)
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text
    if origin in (typing.Union, types.UnionType):
        members = typing.get_args(hint)
        if type(None) in members and text.lower() == "none":
            return None
        if str in members:
            return text
        return _convert(text, next(member for member in members if member is not type(None)))
    if hint is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError("true or false")
        return text.lower() == "true"
    if hint in (int, float):
        pattern = r"[+-]?\d+" if hint is int else r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?"
        if not re.fullmatch(pattern, text, re.ASCII | re.IGNORECASE):
            raise ValueError("an integer" if hint is int else "a number")
        return hint(text)
    if hint in (str, Any):
        return text
    raise ValueError(f"of a type that a spec cannot give ({hint})")
