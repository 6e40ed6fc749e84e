"""Forms of Connect Four: Pons' test files, Kaggle's boards, rows of the UCI data set, boards as people type them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from board_envs.forms import Form, Item, common_forms, from_the_start, play, read_json, short
from board_envs.types import PositionError

_FULL = -99
"""What Kaggle's lines state as the score of a full column."""
_OUTCOMES = {"win": 1, "draw": 0, "loss": -1}
_CELLS = {"letters": dict(zip("XxOo-._", "XXOO---", strict=True)), "digits": dict(zip("012", "-XO", strict=True))}


def make_forms(game: Any) -> tuple[Form, ...]:
    """Return the forms of one size."""
    rows, columns = game.parameters["rows"], game.parameters["columns"]
    initial = game.initial_state()
    limit = (rows * columns + 1) // 2
    moves = "[1-9]+(?:,[1-9])*" if columns <= 9 else "[0-9]+(?:,[0-9]+)*"
    pons = re.compile(rf"\s*({moves})[ \t]+([+-]?[0-9]+)\s*", re.ASCII)
    comma = "," if columns > 9 else ""

    def position(lines: list[str], seat: str = "") -> Any:
        """Return the state of rows from the top, each of X, O and -."""
        return game.notation.parse("/".join(lines) + (f" {seat}" if seat else ""))

    def stones(state: Any) -> list[str]:
        """Return the rows from the top, each of X, O and -."""
        return str(game.format(state)).partition(" ")[0].split("/")

    # -- moves --------------------------------------------------------------------------------------------------------

    def read_pons(text: str) -> Iterator[Item]:
        match = pons.fullmatch(text)
        if match is None:
            raise PositionError(f"{short(text)}: expected moves, a blank and a score, as in '4455 3'")
        score = int(match[2][:6])
        if abs(score) > limit:
            raise PositionError(
                f"{short(text)}: a score is -{limit} to {limit}, not {short(match[2])} (moves one by one use commas)"
            )
        actions, state = play(game, match[1])
        yield Item(state=state, actions=actions, value=score)

    def write_pons(item: Item) -> str:
        actions = from_the_start(game, item, "pons")
        if item.value is None or not actions:
            raise PositionError(f"pons writes moves and their score, not {game.format(item.state)!r} without")
        value = item.value if item.view in (None, game.current_player(item.state)) else -item.value
        return f"{comma.join(str(action + 1) for action in actions)} {value:g}"

    letters = re.compile(r"\s*[a-z](?:[a-z]*|(?:\s*,\s*[a-z])*)\s*", re.IGNORECASE | re.ASCII)

    def read_letters(text: str) -> Iterator[Item]:
        actions, state = play(game, text)
        yield Item(state=state, actions=actions)

    def write_letters(item: Item) -> str:
        actions = from_the_start(game, item, "letters")
        if max(actions, default=0) > ord("z") - ord("a"):
            raise PositionError("letters writes the columns a to z, and this game uses more")
        return "".join(chr(ord("a") + action) for action in actions)

    # -- Kaggle -------------------------------------------------------------------------------------------------------

    def read_kaggle(text: str) -> Iterator[Item]:
        data = read_json(text)
        told = data if isinstance(data, dict) else {"board": data}
        state = grid(told.get("board"), told.get("mark"))
        score, scores = told.get("score"), told.get("move score")
        if score is not None and not _is_int(score):
            raise PositionError(f"score is a whole number, not {short(score)}")
        values = {}
        if scores is not None:
            if not (isinstance(scores, list) and len(scores) == columns and all(map(_is_int, scores))):
                raise PositionError(f"move score is {columns} whole numbers, not {short(scores)}")
            full = [column for column in range(columns) if stones(state)[0][column] != "-"]
            if full != [column for column, value in enumerate(scores) if value == _FULL]:
                raise PositionError(f"move score is {_FULL} exactly for full columns, not {short(scores)}")
            values = {column: float(value) for column, value in enumerate(scores) if column not in full}
        yield Item(state=state, value=score, values=values)

    def grid(board: Any, mark: Any) -> Any:
        """Return the state of a flat list or of nested rows, from the top."""
        if not isinstance(board, list) or not board:
            raise PositionError(f"board is a list of {rows * columns} cells or of {rows} rows, not {short(board)}")
        nested = isinstance(board[0], list)
        lines = board if nested else [board[at : at + columns] for at in range(0, len(board), columns)]
        if not all(isinstance(line, list) for line in lines):
            raise PositionError(f"board is a list of cells or of rows, not of both: {short(board)}")
        if len(lines) != rows or any(len(line) != columns for line in lines):
            raise PositionError(f"board has {rows} rows of {columns} cells, not {short(board)}")
        cells = [cell for line in lines for cell in line]
        wrong = next((cell for cell in cells if not (_is_int(cell) and 0 <= cell <= 2)), None)
        if wrong is not None:
            raise PositionError(f"a cell is 0, 1 or 2, not {short(wrong)}")
        if mark is not None and mark not in (1, 2):
            raise PositionError(f"mark is 1 or 2, not {short(mark)}")
        return position(
            ["".join("-XO"[cell] for cell in line) for line in lines], "" if mark is None else str(mark - 1)
        )

    def write_kaggle(item: Item) -> str:
        board = ["-XO".index(cell) for line in stones(item.state) for cell in line]
        seat = game.current_player(item.state)
        told: dict[str, Any] = {"board": board, "mark": seat + 1}
        if item.value is not None:
            told["score"] = int(item.value if item.view in (None, seat) else -item.value)
        if item.values:
            told["move score"] = [int(item.values.get(column, _FULL)) for column in range(columns)]
        return json.dumps(told)

    # -- UCI ----------------------------------------------------------------------------------------------------------

    uci = re.compile(rf"\s*[box](?:,[box]){{{rows * columns - 1}}}(?:,(?:win|draw|loss))?\.?\s*", re.ASCII)

    def read_uci(text: str) -> Iterator[Item]:
        fields = text.strip().removesuffix(".").split(",")
        outcome = _OUTCOMES.get(fields[-1]) if len(fields) > rows * columns else None
        cells = fields[: rows * columns]
        if not uci.fullmatch(text):
            raise PositionError(f"{short(text)}: expected {rows * columns} of b, x and o, and win, draw or loss")
        by_column = [cells[at : at + rows] for at in range(0, len(cells), rows)]
        lines = ["".join({"b": "-", "x": "X", "o": "O"}[column[row]] for column in by_column) for row in range(rows)]
        yield Item(state=position(lines[::-1]), outcome=outcome, view=None if outcome is None else 0)

    def write_uci(item: Item) -> str:
        lines = stones(item.state)[::-1]
        fields = [{"-": "b", "X": "x", "O": "o"}[line[column]] for column in range(columns) for line in lines]
        outcome = item.outcome
        if outcome is not None:
            if item.view == 1 or (item.view is None and game.current_player(item.state) == 1):
                outcome = -outcome
            fields.append(next(word for word, known in _OUTCOMES.items() if known == outcome))
        return ",".join(fields)

    # -- boards as people type them ------------------------------------------------------------------------------------

    def cells_of(text: str, count: int) -> str | None:
        """Return `count` cells, blanks between them or not, as X, O and -; None for any other text."""
        packed = "".join(text.split())
        for alphabet in _CELLS.values():
            if len(packed) == count and set(packed) <= set(alphabet):
                return "".join(alphabet[char] for char in packed)
        return None

    def board_of(text: str) -> tuple[list[str], str]:
        """Cut a board into its rows from the top and the seat to move, empty if it is not stated."""
        text = text.strip()
        seat = re.search(r"[\s/]([01])$", text)
        if seat and cells_of(text.replace("/", " "), rows * columns) is None:
            text = text[: seat.start()]
        if "/" in text or "\n" in text:
            return re.split(r"\s*[\n/]\s*", text), seat[1] if seat else ""
        packed = "".join(text.split())
        return [packed[at : at + columns] for at in range(0, len(packed), columns)], seat[1] if seat else ""

    def read_board(text: str) -> Iterator[Item]:
        lines, seat = board_of(text)
        read = [cells_of(line, columns) for line in lines]
        if len(lines) != rows or None in read or cells_of("".join(lines), rows * columns) is None:
            raise PositionError(
                f"{short(text)}: a board is {rows} rows of {columns} cells, from the top, each of X, O and - (or . or "
                "_) or each of 1, 2 and 0"
            )
        yield Item(state=position([cells for cells in read if cells is not None], seat))

    def is_board(text: str) -> bool:
        """Whether a line looks like a board in other characters, or otherwise separated, than the project's own."""
        body = re.sub(r"\s[01]$", "", text.strip())
        alphabets = [set(alphabet) | set("/ \t") for alphabet in _CELLS.values()]
        if len(text) > 1000 or not any(set(body) <= alphabet for alphabet in alphabets):
            return False
        if "/" in body:
            return not set(body) <= set("XO-/")
        return cells_of(body, rows * columns) is not None and not set(body) <= set("12")  # else they are moves

    def is_grid(text: str) -> bool:
        """Whether the first lines look like rows; all of 1 and 2 and without blanks they may be moves."""
        first = [
            line for _, line in zip(range(rows), filter(None, map(str.strip, text[:10_000].split("\n"))), strict=False)
        ]
        shown = "".join(first)
        return (
            rows > 1
            and len(first) == rows
            and sum(cells_of(line, columns) is not None for line in first) >= rows - 1
            and not set(shown) <= set("12")
        )

    def split_grids(text: str) -> Iterator[tuple[int, str]]:
        """Cut at blank lines, and after as many rows as a board has (and the seat to move on a line of its own)."""
        first, grid_lines = 0, list[str]()
        for number, line in enumerate([*text.split("\n"), ""], 1):
            whole = len(grid_lines) >= rows and line.strip() not in ("0", "1")
            if grid_lines and (not line.strip() or whole):
                yield first, "\n".join(grid_lines)
                grid_lines = []
            if line.strip():
                first = first if grid_lines else number
                grid_lines.append(line)

    def write_board(item: Item) -> str:
        return "/".join(line.replace("-", ".").lower() for line in stones(item.state))

    def write_grid(item: Item) -> str:
        return write_board(item).replace("/", "\n")

    empty = [0] * (rows * columns)
    return (
        Form(
            "pons",
            "moves",
            "moves, a blank and the score, as in Pons' test files",
            "477751 17",
            sniff=pons.fullmatch,
            read=read_pons,
            write=write_pons,
        ),
        Form(
            "uci",
            "position",
            "a row of the UCI data set: b, x and o column by column from the bottom; win, loss or draw of x",
            write_uci(Item(state=initial, outcome=1, view=0)),
            sniff=uci.fullmatch,
            read=read_uci,
            write=write_uci,
        ),
        Form(
            "kaggle",
            "position",
            "a list of 0, 1 and 2, flat or of rows from the top; or an object with board, mark, score and move score",
            json.dumps({"board": empty, "mark": 1}),
            sniff=re.compile(r'\s*(\[\s*[\[\]0-9]|\{.*"board")', re.DOTALL).match,
            read=read_kaggle,
            write=write_kaggle,
        ),
        *common_forms(game),
        Form(
            "board",
            "position",
            "a board on one line: rows from the top, of x, o and . or of 1, 2 and 0; / or blanks between, or nothing",
            write_board(Item(state=initial)),
            sniff=is_board,
            read=read_board,
            write=write_board,
        ),
        Form(
            "grid",
            "position",
            "a board of one line a row, from the top, of x, o and . or of 1, 2 and 0",
            write_grid(Item(state=initial)),
            sniff=is_grid,
            read=read_board,
            write=write_grid,
            split=split_grids,
        ),
        Form(
            "letters",
            "moves",
            "moves as the letters of their columns",
            "a",
            sniff=letters.fullmatch,
            read=read_letters,
            write=write_letters,
        ),
    )


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1_000_000
