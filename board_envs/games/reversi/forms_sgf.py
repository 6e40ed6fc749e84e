"""SGF, the Smart Game Format, of Othello: ``(;GM[2]FF[4]SZ[8]PB[...]PW[...];B[f5];W[d6];W[])``.

A move is a square, f5 or the two letters fe (column and row from the top left), and an empty value a pass. AB, AW, AE
and PL before the first move set up a start. The main line of a tree is read; what stands beside a move (comments,
marks) is kept, other lines of play are reported and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from board_envs.forms import Form, Item
from board_envs.games.reversi.board import square_name, square_of
from board_envs.games.reversi.forms_ggf import looks_like_ggf
from board_envs.games.reversi.rules import State, start_discs
from board_envs.games.reversi.transcripts import (
    ANNOTATIONS,
    PASS_NAMES,
    Replay,
    Result,
    annotations_of,
    check_size,
    conclude,
    pieces,
    plies,
    position_after_pass,
    result_of,
)
from board_envs.types import PositionError

HEADERS = {"EV": "Event", "PC": "Site", "DT": "Date", "RO": "Round", "BR": "BlackElo", "WR": "WhiteElo"}
"""Properties that an Item's headers keep under a name of their own; any other keeps its own name, in capitals."""

_NAMES = {header: name for name, header in HEADERS.items()}
_KEPT = {header.upper(): header for header in ("Annotations", "Result", "Clock", "Type", "Komi", "Comment")}
_OTHELLO = "2"
_TOKEN = re.compile(r"\s*(?:([();])|([A-Za-z]+)\s*((?:\[(?:[^\]\\]|\\.)*\]\s*)+))", re.DOTALL)
_SYMBOL = re.compile(r"[()]|\[(?:[^\]\\]|\\.)*(?:\]|\\?\Z)", re.DOTALL)  # a value that is not closed goes to the end
_VALUE = re.compile(r"\[((?:[^\]\\]|\\.)*)\]", re.DOTALL)
_PROPERTIES = re.compile(r"(?:[A-Z]+(?:\[(?:[^\]\\]|\\.)*\])+)+", re.DOTALL)
_RESULT = re.compile(r"([BW])\+([0-9]+(?:\.[0-9]+)?|R|Resign|T|Time|)", re.IGNORECASE)
_SETUP = ("AB", "AW", "AE", "PL")
_OURS = ("GM", "FF", "SZ", "PB", "PW", "RE", "CA", *_SETUP)

Node = list[tuple[str, list[str]]]


def sgf_form(game: Any) -> Form:
    """Return the form."""
    size = game.parameters["size"]
    usual = game.initial_state()

    def sniff(text: str) -> bool:
        return re.match(r"\s*\(\s*;", text) is not None and not looks_like_ggf(text)

    def read(text: str) -> Iterator[Item]:
        nodes, variations = main_line(text)
        root = {name: values for name, values in nodes[0] if name not in ("B", "W")}
        for name in ("GM", "SZ", "PB", "PW", "RE"):
            if len(root.get(name, [""])) > 1:
                raise PositionError(f"{name} has {len(root[name])} values")
        told = {name: " ".join(", ".join(values).split()) for name, values in root.items()}
        if told.get("GM", _OTHELLO if "GM" in told else "missing") != _OTHELLO:
            raise PositionError(f"GM[{told.get('GM', '')}]: a game of GM[2], Othello, is expected")
        given = told.get("SZ", "8")
        if not re.fullmatch(r"[0-9]{1,3}", given) or check_size(int(given)) != size:
            raise PositionError(f"SZ[{given}]: a board of {given} x {given}, but this game has size={size}")
        start, passed = set_up(root) if any(name in root for name in _SETUP) else (usual, False)
        replay = Replay(start, size, passes=int(passed))
        idle = sum(not _play(replay, node, first=number == 0) for number, node in enumerate(nodes))
        headers = {HEADERS.get(name, _KEPT.get(name, name)): text for name, text in told.items() if name not in _OURS}
        headers = {name: text for name, text in headers.items() if text}
        extra = Result.parse(headers.pop("Result", ""))
        headers |= replay.annotations()
        remarks = [f"{variations} other lines of play left out"] if variations else []
        remarks += [f"{idle} nodes without a move left out"] if idle else []
        result = _result(told.get("RE", ""))
        if result is None and told.get("RE", "") not in ("", "?", "Void"):
            remarks.append(f"the result RE[{told['RE']}] is not known")
            headers["RE"] = told["RE"]
        players = (told.get("PB") or "?", told.get("PW") or "?")
        yield conclude(
            replay,
            None if game.same_position(start, usual) else start,
            result or extra,
            headers=headers,
            remarks=remarks,
            players=None if players == ("?", "?") else players,
        )

    def set_up(root: dict[str, list[str]]) -> tuple[State, bool]:
        black, white = (int(word) for word in start_discs(size))
        for name in ("AE", "AB", "AW"):
            for value in root.get(name, []):
                bit = 1 << _bit(value, size)
                black = black & ~bit | (bit if name == "AB" else 0)
                white = white & ~bit | (bit if name == "AW" else 0)
        side = root.get("PL", ["B"])[0].strip().lower()
        if side not in ("b", "w", "black", "white"):
            raise PositionError(f"PL[{side}]: the side to move is B or W")
        return position_after_pass(black, white, int(side[0] == "w"), size)

    def write(item: Item) -> str:
        start = usual if item.start is None else item.start
        if not item.actions and item.start is None and not game.same_position(item.state, usual):
            start = item.state
        headers = dict(item.headers)
        notes = annotations_of(item)
        headers.pop(ANNOTATIONS, None)
        result = result_of(item, size)
        headers.pop("Result", None)
        players = item.players or ("?", "?")
        text = f"GM[{_OTHELLO}]FF[4]CA[UTF-8]SZ[{size}]PB[{_escaped(players[0])}]PW[{_escaped(players[1])}]"
        told = headers.pop("RE", "")
        if result is not None:
            told = _result_text(result)
            if _result(told) != result:
                headers["Result"] = str(result)
        text += f"RE[{_escaped(told)}]" if told else ""
        for header, value in headers.items():
            name = _NAMES.get(header, header.upper())
            if not re.fullmatch(r"[A-Z]+", name) or name in ("B", "W") or (name in _OURS and name != "RE"):
                raise PositionError(f"SGF cannot hold {header}: names of properties are letters")
            text += f"{name}[{_escaped(value)}]"
        if not game.same_position(start, usual):
            text += _start_text(start, size)
        nodes = [";" + text]
        for ply, (seat, square) in enumerate(plies(start, item.actions, size)):
            note = notes[ply] if ply < len(notes) else ""
            beside = note if not note or _PROPERTIES.fullmatch(note) else f"C[{_escaped(note)}]"
            nodes.append(f";{'BW'[seat]}[{square}]{beside}")
        return f"({''.join(nodes)})"

    return Form(
        "sgf",
        "game",
        "SGF of Othello (GM[2])",
        f"(;GM[2]FF[4]SZ[{size}]PB[first]PW[second])",
        sniff=sniff,
        read=read,
        write=write,
        split=_trees,
        suffixes=(".sgf",),
    )


def main_line(text: str) -> tuple[list[Node], int]:
    """Return the nodes of a tree's first line, and how many other lines were left out.

    Raises:
        PositionError: the text is no tree of nodes.

    """
    nodes, variations, at = list[Node](), 0, 0
    depth, done, other = 0, False, 0  # `done`: the main line ended; `other`: depth of the other line read over
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or (depth == 0 and at > 0):
            raise PositionError(f"SGF that does not read at {text[at : at + 40]!r}")
        at = match.end()
        if match[1] == "(":
            depth += 1
            if done and not other:
                variations, other = variations + 1, depth
        elif match[1] == ")":
            other = 0 if depth == other else other
            done = True
            depth -= 1
        elif not done:
            if match[1] == ";":
                nodes.append([])
            elif not nodes:
                raise PositionError(f"SGF: {match[2]} stands before the first node")
            else:
                nodes[-1].append((match[2].upper(), [_unescaped(value) for value in _VALUE.findall(match[3])]))
    if depth or not nodes:
        raise PositionError(f"SGF that does not end: {text[-40:]!r}")
    return nodes, variations


def _play(replay: Replay, node: Node, *, first: bool) -> bool:
    """Play a node's move; return whether nothing of the node is left out."""
    moves = [(name, values) for name, values in node if name in ("B", "W")]
    if len(moves) > 1 or any(len(values) != 1 for _, values in moves):
        raise PositionError("SGF: more than one move in a node")
    others = [(name, values) for name, values in node if name not in ("B", "W")]
    if not first and any(name in _SETUP for name, _ in others):
        raise PositionError("SGF: discs are set up after the start of the game")
    if not moves:
        return first or not others
    name, (value,) = moves[0]
    note = ""
    if not first and len(others) == 1 and others[0][0] == "C" and len(others[0][1]) == 1:
        note = others[0][1][0]
    elif not first:
        note = "".join(name + "".join(f"[{_escaped(text)}]" for text in values) for name, values in others)
    replay.add(_square(value, replay.size), "BW".index(name), note)
    return True


def _square(value: str, size: int) -> str:
    """Return a move as a square's name or a pass; two letters are column and row, beyond the board a pass."""
    value = value.strip().lower()
    if len(value) == 2 and value.isascii() and value.isalpha() and value not in PASS_NAMES:
        column, row = ord(value[0]) - ord("a"), ord(value[1]) - ord("a")
        if value == "tt":
            return ""
        if row < size and column < size:
            return square_name((row, column), size)
    return value


def _bit(value: str, size: int) -> int:
    try:
        row, column = square_of(_square(value, size), size)
    except ValueError as error:
        raise PositionError(f"SGF: {error}") from None
    return 8 * row + column


def _result(text: str) -> Result | None:
    if text.lower() in ("0", "draw"):
        return Result(2)
    match = _RESULT.fullmatch(text)
    if match is None:
        return None
    winner, how = "bw".index(match[1].lower()), {"r": "resigned", "t": "timeout"}.get(match[2][:1].lower(), "")
    return Result(winner, None if how or not match[2] else float(match[2]), how)


def _result_text(result: Result) -> str:
    if result.winner == 2:
        return "0"
    end = {"resigned": "R", "timeout": "T"}.get(result.how)
    if end is None:
        end = "" if result.discs is None else f"{result.discs:g}"
    return f"{'BW'[result.winner]}+{end}"


def _start_text(start: State, size: int) -> str:
    text = ""
    for name, word in (("AB", int(start.black)), ("AW", int(start.white))):
        squares = [square_name(divmod(bit, 8), size) for bit in range(64) if word >> bit & 1]
        text += name + "".join(f"[{square}]" for square in squares) if squares else ""
    return f"{text}PL[{'BW'[start.seat]}]"


def _escaped(text: str) -> str:
    return re.sub(r"([\]\\])", r"\\\1", text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(\n|.)", lambda match: "" if match[1] == "\n" else match[1], text, flags=re.DOTALL)


def _trees(text: str) -> Iterator[tuple[int, str]]:
    """Cut after each tree's last parenthesis; brackets in values are ignored."""
    starts, depth = [0], 0
    for match in _SYMBOL.finditer(text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == ")" and depth <= 0:
            depth = 0
            starts.append(match.end())
    if not text[starts[-1] :].strip():
        starts.pop()
        text = text.rstrip()
    yield from pieces(text, starts)
