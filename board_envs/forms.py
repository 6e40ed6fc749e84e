"""Forms: the ways in which players write positions, moves and games. Every command reads them through this module.

How to add a form to a game: write a function that reads one piece of text, and list it in ``games/<game>/forms.py``::

    from board_envs.forms import Form, Item, common_forms

    def make_forms(game):                       # called once a game and size; ``Game(outside_forms=make_forms)``
        def read(text):                         # one line (or one piece, see `split`); yields Items, usually one
            moves, score = text.split()
            actions, state = play(game, moves)  # raises IllegalActionError or PositionError, nothing else
            yield Item(state=state, actions=actions, value=float(score))

        return (
            Form(
                "pons",                         # the name users type after --form
                "moves",                        # "position", "moves" or "game"
                "moves, a blank, the exact value",
                "4455 3",                       # an example that this form itself reads on the game's usual size
                sniff=re.compile(r"[1-9]+ -?[0-9]+").fullmatch,   # whether a piece looks like this form
                read=read,
                write=lambda item: ...,         # optional: Item -> text of one piece, without the last line break
            ),
            *common_forms(game),                # numbered and PGN-like games
        )

The reader asks the forms in the listed order, after the game's own positions and before its own moves; the first form
whose `sniff` says yes takes the piece, and any error in it is then that form's error: no other form is
tried. So `sniff` is cheap, never raises, and is narrow. A form with `split` takes a whole text (`sniff` sees it all);
the others are asked line by line, so that one file may mix them. A form with `suffixes` and `read_file` takes files by
their names (binary forms). Errors of a piece become ``Item.error`` and the rest goes on. ``tests/forms`` tries every
listed form: its example, what it writes, damaged texts.

A game without forms of its own reads its own notation, numbered games and PGN-like games.
"""

from __future__ import annotations

import difflib
import errno
import json
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from board_envs.types import IllegalActionError, PositionError, SpecError

_SHOWN = 80
"""Characters of a value that a message repeats."""
KINDS = ("position", "moves", "game")
POSITION, MOVES = "position", "moves"
"""Names of the game's own notation among its forms."""
_RESULTS = {"1-0": 0, "0-1": 1, "1/2-1/2": 2, "½-½": 2, "*": -1}


@dataclass(frozen=True)
class Item:
    """One position or game that was read. States are those of the game's rules.

    Attributes:
        state: the position after all actions; None if `error` is set.
        start: the position that the actions begin from; None for the game's usual one (and for a bare position).
        actions: the moves, played from `start`.
        players: names of who sits at seat 0 and at seat 1.
        value: the exact value of `state` that the text states, in the game's unit; None if it states none.
        values: action -> exact value that the text states, from the mover's view.
        outcome: +1, 0 or -1 under best play where the text states only that; None if not.
        view: the seat from whose view `value` and `outcome` are; None for the seat to move in `state`.
        winner: the result that the text states: 0, 1, 2 for a draw, -1 for unfinished; None if it states none.
        margin: the final margin that the text states, player_0's points minus player_1's, counted as
            `Game.margin` counts (a form that counts in another way converts it); None if it states none.
        headers: whatever else the text states and a writer of the form needs again, name -> text.
        remark: a warning about an item that was read nevertheless.
        error: why the piece does not read; empty if it does.
        form: name of the form that took the piece.
        line: where it begins, counted from 1.

    """

    state: Any = None
    start: Any = None
    actions: tuple[int, ...] = ()
    players: tuple[str, str] | None = None
    value: float | None = None
    values: Mapping[int, float] = field(default_factory=dict)
    outcome: int | None = None
    view: int | None = None
    winner: int | None = None
    margin: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""
    error: str = ""
    form: str = ""
    line: int = 1


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line) of the lines that are not blank."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.strip()


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number of its first line, block) of the blocks between blank lines."""
    first, block = 0, list[str]()
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.strip():
            first = first or number
            block.append(line.rstrip())
        elif block:
            yield first, "\n".join(block)
            first, block = 0, []


@dataclass(frozen=True)
class Form:
    """One way of writing a game's positions, moves or games; the module says how to add one.

    Attributes:
        name: e.g. "sgf"; unique in its game.
        kind: "position", "moves" (of one game) or "game" (moves with a start, players or a result).
        description: one line for people.
        example: a piece that this form reads on the game's usual size; empty for a binary form.
        sniff: (text) -> whether a piece, or with `split` a whole text, looks like this form; true in Python's sense.
        read: (piece) -> Items; raises PositionError or IllegalActionError, nothing else.
        write: (Item) -> text of a piece; PositionError if the form cannot express it. None: not written.
        split: (text) -> (line number, piece) of a whole text; None: every line is a piece.
        rule: how the form's values count, where the game's oracle knows several ways: its parameter ``rule=``.
        suffixes: lower-case endings of files that are of this form whatever is in them.
        read_file: (path) -> Items of a file that is no text, or has neighbours; only with `suffixes`.
        write_file: (Items) -> bytes of the file by its ending, the first of `suffixes`; other endings are files beside
            it (names, say) that `read_file` finds there.

    """

    name: str
    kind: str
    description: str
    example: str
    sniff: Callable[[str], Any]
    read: Callable[[str], Iterable[Item]]
    write: Callable[[Item], str] | None = None
    split: Callable[[str], Iterable[tuple[int, str]]] | None = None
    rule: str = ""
    suffixes: tuple[str, ...] = ()
    read_file: Callable[[Path], Iterable[Item]] | None = None
    write_file: Callable[[Sequence[Item]], Mapping[str, bytes]] | None = None

    def __post_init__(self) -> None:
        """Refuse a kind that no reader knows."""
        if self.kind not in KINDS:
            raise ValueError(f"form {self.name!r}: kind is one of {', '.join(KINDS)}, not {self.kind!r}")


# -- reading ----------------------------------------------------------------------------------------------------------


def all_forms(game: Any) -> tuple[Form, ...]:
    """Return a game's forms in the order in which they are asked; `Game.forms` keeps them."""

    def is_position(text: str) -> bool:
        try:
            game.notation.parse(text)
        except PositionError:
            return False
        return True

    def read_position(text: str) -> Iterator[Item]:
        yield Item(state=game.notation.parse(text))

    def read_moves(text: str) -> Iterator[Item]:
        actions, state = play(game, text)
        yield Item(state=state, actions=actions)

    own_position = Form(
        POSITION,
        "position",
        "a position in the project's own notation",
        game.format(game.initial_state()),
        sniff=is_position,
        read=read_position,
        write=lambda item: game.format(item.state),
    )
    first = game.write_moves(game.legal_actions(game.initial_state())[:1])
    own_moves = Form(
        MOVES,
        "moves",
        "moves from the start in the project's own notation",
        first,
        sniff=str.strip,
        read=read_moves,
        write=lambda item: game.write_moves(from_the_start(game, item, MOVES)),
    )
    forms = (own_position, *game.outside_forms(game), own_moves)
    names = [form.name for form in forms]
    if len(set(names)) < len(names):
        raise ValueError(f"{game!r}: two forms have one name: {', '.join(names)}")
    return forms


def find_form(game: Any, name: str) -> Form:
    """Return a form by its name; SpecError lists the game's forms."""
    for form in game.forms:
        if form.name == name:
            found: Form = form
            return found
    names = [form.name for form in game.forms]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise SpecError(f"unknown form {name!r}{hint}; forms of {game.name}: {', '.join(names)}")


def read_text(game: Any, text: str, form: str | None = None) -> Iterator[Item]:
    """Yield all that a text holds, in order; a piece that does not read is an Item with `error`.

    Args:
        game: a `board_envs.game.Game`.
        text: positions, moves or games, in any of the game's forms.
        form: the name of the only form to read; None detects it; see ``Item.form``.

    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    chosen = find_form(game, form) if form is not None else _whole_form(game, text)
    split = lines if chosen is None or chosen.split is None else chosen.split
    for line, piece in split(text):
        yield from _read_piece(game, piece, line, chosen)


def read_one(game: Any, text: str, form: str | None = None) -> Item:
    """Return the one position or game of a text; PositionError or IllegalActionError says what is wrong."""
    chosen = find_form(game, form) if form is not None else _whole_form(game, text) or _form_of_piece(game, text)
    whole = chosen.split is not None
    items = list(read_text(game, text, chosen.name) if whole else _read(game, text, chosen, form is not None))
    if len(items) != 1:
        raise PositionError(f"{short(text)}: {len(items)} positions or games ({chosen.name}), expected one")
    if items[0].error:
        raise PositionError(items[0].error)
    return replace(items[0], form=chosen.name)


def read_position(game: Any, text: str) -> Any:
    """Return the state that a text describes in any form of positions; PositionError says what is wrong."""
    try:
        return game.notation.parse(text)
    except PositionError:
        for form in game.forms:
            if form.kind == "position" and form.name != POSITION and form.sniff(text):
                return read_one(game, text, form.name).state
        raise


def own_text(game: Any, text: str) -> str:
    """Return a position's text in the game's own notation, a text of that notation as it is; PositionError if none."""
    try:
        game.notation.parse(text)
    except PositionError:
        return str(game.format(read_position(game, text)))
    return text


def read_file(game: Any, path: str | Path, form: str | None = None) -> Iterator[Item]:
    """Yield all that a file or a pipe holds, as `read_text` does.

    Raises:
        PositionError: it is not UTF-8 text.
        OSError: it cannot be read, or is a device, which may never end; the error names it.

    """
    path = Path(path)
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "is a device, not a file", str(path))
    chosen = find_form(game, form) if form is not None else None
    if chosen is None:
        chosen = next((known for known in game.forms if path.suffix.lower() in known.suffixes), None)
    if chosen is not None and chosen.read_file is not None:
        for item in chosen.read_file(path):
            yield replace(item, form=chosen.name)
        return
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PositionError(f"{path}: not UTF-8 text ({error})") from None
    yield from read_text(game, text, None if chosen is None else chosen.name)


def _whole_form(game: Any, text: str) -> Form | None:
    return next((form for form in game.forms if form.split is not None and form.sniff(text)), None)


def _form_of_piece(game: Any, text: str) -> Form:
    """Return the first form that takes a line; a whole game may stand on one."""
    for form in game.forms:
        if form.sniff(text):
            found: Form = form
            return found
    return find_form(game, POSITION)  # an empty text


def _read(game: Any, piece: str, form: Form, asked: bool) -> Iterator[Item]:
    """Read a piece; if only the game's own moves take it, the error also says why it is not a position."""
    try:
        yield from form.read(piece)
    except IllegalActionError as no_moves:
        if asked or form.name != MOVES:
            raise
        try:
            game.notation.parse(piece)
        except PositionError as no_position:
            raise PositionError(f"neither a position ({no_position}) nor moves ({no_moves})") from None
        raise


def _read_piece(game: Any, piece: str, line: int, chosen: Form | None) -> Iterator[Item]:
    form = chosen or _form_of_piece(game, piece)
    try:
        for item in _read(game, piece, form, chosen is not None):
            yield replace(item, form=form.name, line=line + item.line - 1)
    except (PositionError, IllegalActionError) as error:
        yield Item(error=str(error), line=line, form=form.name)


# -- writing ----------------------------------------------------------------------------------------------------------


def write_text(game: Any, items: Iterable[Item], form: str) -> str:
    """Write items in a form; SpecError if the form is never written, PositionError if it cannot express an item."""
    chosen = find_form(game, form)
    if chosen.write is None:
        written = ", ".join(known.name for known in game.forms if known.write is not None)
        raise SpecError(f"form {form!r} is not written; written forms of {game.name}: {written}")
    gap = "\n" if chosen.split is None else "\n\n"
    pieces = [chosen.write(item) for item in items]
    return gap.join(pieces) + "\n" if pieces else ""


# -- for forms --------------------------------------------------------------------------------------------------------


def play(game: Any, moves: str | Iterable[str], start: Any = None) -> tuple[tuple[int, ...], Any]:
    """Play moves (one text in the game's notation, or one text a move); return the actions and the last state."""
    actions, state = game.play_moves(moves, start)
    return tuple(actions), state


_TUPLES = re.compile(r"\s*(?P<move>\([^()]*\))\s*,?", re.ASCII)


def split_tuples(text: str) -> list[str]:
    """Cut moves such as "(0, 3) (2, 1)" at their parentheses; IllegalActionError for anything between them."""
    moves, at, text = [], 0, text.strip()
    while at < len(text):
        match = _TUPLES.match(text, at)
        if match is None:
            raise IllegalActionError(f"{short(text)}: no move in parentheses at character {at + 1}")
        moves.append(match["move"])
        at = match.end()
    return moves


def from_the_start(game: Any, item: Item, form: str) -> tuple[int, ...]:
    """Return an item's actions; PositionError unless they start from the game's initial state."""
    if item.start is not None:
        raise PositionError(f"{form} writes games from the usual start, not from {game.format(item.start)!r}")
    if not item.actions and not game.same_position(item.state, game.initial_state()):
        raise PositionError(f"{form} writes moves, and only a position is known: {game.format(item.state)!r}")
    return item.actions


def names_of(game: Any, item: Item) -> list[str]:
    """Return an item's moves by name, one text a move."""
    names: list[str] = game.move_names(item.actions, game.states(item.actions, item.start))
    return names


def short(value: Any) -> str:
    """Return a value's repr for a message, cut where it is long."""
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."


def read_json(text: str) -> Any:
    """Parse JSON; PositionError if the text is not valid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PositionError(f"{short(text)}: not valid JSON ({error})") from None


# -- forms of every game ----------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?<!\S)([0-9]{1,4})(?:\.{1,3}|\))(?=\s|[^\s.,)])")
_FIRST_NUMBER = re.compile(r"\s*1(?:\.{1,3}|\))(?:\s|[^\s.,)])")
_TAG = re.compile(r'\s*\[\s*([A-Za-z0-9_]+)\s+"((?:[^"\\]|\\.)*)"\s*\]')


def common_forms(game: Any, first: str = "White", second: str = "Black") -> tuple[Form, ...]:
    """Return the forms that suit every game: numbered moves, and PGN-like games with tag pairs.

    Args:
        game: the game.
        first: the tag of who begins.
        second: the tag of who answers. The result "1-0" is White's win.

    """
    white = 0 if first == "White" else 1

    def read_body(text: str, start: Any = None) -> Item:
        text = _without_comments(text)
        last = 0
        for match in _NUMBER.finditer(text):
            if int(match[1]) not in (last, last + 1):
                raise PositionError(f"{short(text)}: move number {match[1]} comes after {last or 'nothing'}")
            last = int(match[1])
        words = _NUMBER.sub(" ", text).split()
        winner = None
        if words and words[-1] in _RESULTS:
            winner = _RESULTS[words.pop()]
            winner = 1 - winner if white and winner in (0, 1) else winner
        actions, state = play(game, words, start)
        return Item(state=state, start=start, actions=actions, winner=winner)

    def result(item: Item) -> str:
        winner = -1 if item.winner is None else item.winner
        if white and winner in (0, 1):
            winner = 1 - winner
        return next(text for text, number in _RESULTS.items() if number == winner)

    def body(item: Item) -> str:
        names = names_of(game, item)
        pairs = [" ".join(names[at : at + 2]) for at in range(0, len(names), 2)]
        return " ".join(f"{number}. {pair}" for number, pair in enumerate(pairs, 1))

    def read_numbered(text: str) -> Iterator[Item]:
        yield read_body(text)

    def write_numbered(item: Item) -> str:
        from_the_start(game, item, "numbered")
        words = [body(item), "" if item.winner is None else result(item)]
        return " ".join(filter(None, words))

    def read_pgn(text: str) -> Iterator[Item]:
        tags, moves = read_tags(text)
        start = read_position(game, tags["FEN"]) if "FEN" in tags else None
        item = read_body(moves, start)
        players = (tags.get(first, "?"), tags.get(second, "?")) if first in tags or second in tags else None
        rest = {key: tag for key, tag in tags.items() if key not in (first, second, "FEN", "SetUp", "Result")}
        yield replace(item, players=players, headers=rest)

    def write_pgn(item: Item) -> str:
        if item.start is None:
            from_the_start(game, item, "pgn")
        tags = dict(item.headers)
        if item.players is not None:
            tags |= {first: item.players[0], second: item.players[1]}
        tags["Result"] = result(item)
        if item.start is not None:
            tags |= {"SetUp": "1", "FEN": game.format(item.start)}
        return write_tags(tags) + " ".join(filter(None, [body(item), result(item)]))

    opening = game.legal_actions(game.initial_state())[:1]
    move = game.write_moves(opening)
    return (
        Form(
            "pgn",
            "game",
            "games with tag pairs and numbered moves, as in PGN",
            f'[{first} "first"]\n[{second} "second"]\n[Result "*"]\n\n1. {move} *',
            sniff=_TAG.match,
            read=read_pgn,
            write=write_pgn,
            split=_pgn_games,
        ),
        Form(
            "numbered",
            "game",
            "numbered moves; a new game begins at number 1",
            f"1. {move}",
            sniff=_FIRST_NUMBER.match,
            read=read_numbered,
            write=write_numbered,
            split=_numbered_games,
        ),
    )


def _without_comments(text: str) -> str:
    """Replace each comment, from a brace to the next closing one, by a blank."""
    *closed, rest = text.split("}")
    return "".join(part.partition("{")[0] + " " if "{" in part else part + "}" for part in closed) + rest


def read_tags(text: str) -> tuple[dict[str, str], str]:
    """Read the tag pairs that a PGN-like game begins with; return them and the text after them.

    Raises:
        PositionError: nothing follows the tags, and they state neither a position nor a result.

    """
    tags, at = dict[str, str](), 0
    while match := _TAG.match(text, at):
        tags[match[1]] = re.sub(r"\\(.)", r"\1", match[2])
        at = match.end()
    if not text[at:].strip() and not {"FEN", "Result"} & set(tags):
        raise PositionError(f"{short(text)}: tags without moves or a result")
    return tags, text[at:]


def write_tags(tags: Mapping[str, str]) -> str:
    """Write tag pairs, one a line; line breaks in a value become blanks."""
    escaped = {key: re.sub(r'(["\\])', r"\\\1", " ".join(value.split())) for key, value in tags.items()}
    return "".join(f'[{key} "{value}"]\n' for key, value in escaped.items())


def _numbered_games(text: str) -> Iterator[tuple[int, str]]:
    """Cut where a blank line stands, and before a line that begins with number 1."""
    first, game = 0, list[str]()
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if game and (not line.strip() or _FIRST_NUMBER.match(line)):
            yield first, "\n".join(game)
            game = []
        if line.strip():
            first = first if game else number
            game.append(line)


def _pgn_games(text: str) -> Iterator[tuple[int, str]]:
    """Cut before a tag that follows moves."""
    first, game, moves = 0, list[str](), False
    for number, line in enumerate(text.split("\n"), 1):
        tag = _TAG.match(line)
        if tag and moves:
            yield first, "\n".join(game)
            game, moves = [], False
        if line.strip():
            first = first if game else number
            game.append(line)
            moves = moves or not tag
    if game:
        yield first, "\n".join(game)
