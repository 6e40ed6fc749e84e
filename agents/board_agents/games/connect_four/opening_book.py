"""Opening books: the exact score of every unfinished position with few stones, up to mirror image.

A book covers all such positions in a fixed order (by stones, then by key), so a file contains their scores
only. It is text-headed: one line of JSON, then the scores, one signed byte each, compressed by zlib.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.games.connect_four.geometry import geometry, has_lines, mirror
from board_agents.lowlevel.atomic_files import begins_with, read_bytes, write_whole
from board_agents.support import TablesError
from board_envs.game import Game
from board_envs.games.connect_four import State
from board_envs.registry import make_game
from board_envs.types import Words

KIND = "board-envs connect-four book"
VERSION = 2
"""Version of the files: 2 has the head under the checksum, 1 (still read) only the scores."""
MOST_PLIES = 16
MOST_SCORES = 1 << 29
"""The standard board has fewer positions of up to MOST_PLIES stones, mirror images counted once."""
UNKNOWN = -128
is_book = begins_with(b'{"kind": "board-envs connect-four book"')
"""Whether a file is a book, finished or not."""
SHIPPED = {(6, 7, 4): "book_6x7_4.bin"}
"""Size -> file beside this one."""


class BookError(TablesError):
    """A file that is not an intact book of the requested size."""


def keys_of(positions: Words, rows: int, columns: int) -> Words:
    """Return the keys of positions (n, 2), own stones plus all stones, the smaller one of two mirror images."""
    keys = positions[:, 0] + positions[:, 1]
    return np.minimum(keys, mirror(keys, rows, columns))


@functools.lru_cache(maxsize=2 * (MOST_PLIES + 1))  # two sizes; what is longer shares the arrays of what is shorter
def positions_by_stones(rows: int, columns: int, connect: int, plies: int) -> list[Words]:
    """Return the unfinished positions with 0 .. plies stones, one per pair of mirror images, sorted by key.

    Each entry is uint64 (n, 2): stones of the side to move, all stones.
    """
    if plies == 0:
        return [np.zeros((1, 2), np.uint64)]
    facts = geometry(rows, columns, connect)
    levels = positions_by_stones(rows, columns, connect, plies - 1)
    own, mask = levels[-1][:, 0], levels[-1][:, 1]
    parts = []
    for column in range(columns):
        shift = np.uint64(column * facts.height)
        move = (mask + (np.uint64(1) << shift)) & ~mask & (facts.column << shift)
        open_here = move != 0
        mine = own[open_here] | move[open_here]
        after = np.stack([(own ^ mask)[open_here], mask[open_here] | move[open_here]], axis=1)
        going_on = ~has_lines(mine, rows, connect) & (after[:, 1] != facts.board)
        parts.append(after[going_on])
    found = np.concatenate(parts)
    # The image with the smaller key represents both.
    keys, image = found[:, 0] + found[:, 1], mirror(found, rows, columns)
    image_keys = image[:, 0] + image[:, 1]
    found = np.where((image_keys < keys)[:, None], image, found)
    _, first = np.unique(np.minimum(keys, image_keys), return_index=True)
    return [*levels, np.ascontiguousarray(found[first])]


@dataclass(frozen=True, eq=False)
class Book:
    """Scores of all unfinished positions up to a number of stones.

    Attributes:
        size: (rows, columns, connect).
        plies: the largest number of stones.
        keys: per number of stones, uint64 (n,), sorted.
        scores: per number of stones, int8 (n,).

    """

    size: tuple[int, int, int]
    plies: int
    keys: list[Words]
    scores: list[NDArray[np.int8]]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the scores alone, as the keys can be recomputed; the shipped book by its size."""
        if self.size in SHIPPED and _load_shipped(self.size) is self:
            return _load_shipped, (self.size,)
        return _with_scores, (self.size, self.plies, self.scores)

    def __len__(self) -> int:
        """Number of entries."""
        return sum(len(scores) for scores in self.scores)

    @property
    def missing(self) -> int:
        """Number of scores not yet known."""
        return sum(int((scores == UNKNOWN).sum()) for scores in self.scores)

    def get(self, state: State) -> int | None:
        """Return the score from the side to move, None beyond the book."""
        occupied = int(state.player_0 | state.player_1)
        stones = occupied.bit_count()
        if stones > self.plies or state.winner >= 0:
            return None
        own = state.player_1 if state.seat else state.player_0
        key = keys_of(np.array([[own, occupied]], np.uint64), self.size[0], self.size[1])[0]
        keys = self.keys[stones]
        index = int(np.searchsorted(keys, key))
        if index == len(keys) or keys[index] != key:
            return None
        return int(self.scores[stones][index])

    def action_values(self, game: Game[Any], state: State) -> dict[int, int] | None:
        """Return each move's score for the mover; None where the positions after them are beyond the book."""
        values = {}
        for action in game.legal_actions(state):
            after = game.step(state, action)
            if game.is_terminal(after):
                cells = self.size[0] * self.size[1]
                stones = int(state.player_0 | state.player_1).bit_count()
                values[action] = (cells + 1 - stones) // 2 if after.winner == state.seat else 0
                continue
            score = self.get(after)
            if score is None:
                return None
            values[action] = -score
        return values

    def least(self, positions: Words) -> NDArray[np.int64]:
        """Return lower bounds of the scores of positions one stone beyond the book, from their predecessors.

        A predecessor of score s has no successor of score below -s.

        Args:
            positions: uint64 (n, 2), own and all stones, each with `plies` + 1 stones.

        Returns:
            int64 (n,); the minimum score where unknown.

        """
        rows, columns, connect = self.size
        facts = geometry(rows, columns, connect)
        own, mask = positions[:, 0], positions[:, 1]
        best = np.full(len(positions), -facts.cells, np.int64)
        keys, scores = self.keys[self.plies], self.scores[self.plies]
        for column in range(columns):
            stones = mask & (facts.column << np.uint64(column * facts.height))
            last = (stones ^ (stones >> np.uint64(1))) & (own ^ mask)
            before = np.stack([own ^ mask ^ last, mask ^ last], axis=1)
            wanted = keys_of(before, rows, columns)
            index = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            known = (last != 0) & (keys[index] == wanted)
            best[known] = np.maximum(best[known], -scores[index[known]].astype(np.int64))
        return best

    @classmethod
    def empty(cls, rows: int, columns: int, connect: int, plies: int) -> Book:
        """Return a book without known scores."""
        levels = positions_by_stones(rows, columns, connect, plies)
        keys = [level[:, 0] + level[:, 1] for level in levels]
        return cls((rows, columns, connect), plies, keys, [np.full(len(k), UNKNOWN, np.int8) for k in keys])

    @classmethod
    def shipped(cls, game: Game[Any]) -> Book | None:
        """Return the book shipped with this package, None for a size without one."""
        size = (game.parameters["rows"], game.parameters["columns"], game.parameters["connect"])
        return _load_shipped(size) if size in SHIPPED else None

    @classmethod
    def of(cls, game: Game[Any], path: str | os.PathLike[str] | None = None) -> Book | None:
        """Return the book in a file, or the shipped one; raise BookError if the file is for another size."""
        if path is None:
            return cls.shipped(game)
        book, size = cls.load(path), tuple(game.parameters[key] for key in ("rows", "columns", "connect"))
        if book.size != size:
            raise BookError(f"the book is for {book.size}, the game is {size}")
        return book

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, partial: bool = False) -> Book:
        """Read a book.

        Args:
            path: the file.
            partial: accept an unfinished book.

        Raises:
            BookError: the file is foreign, damaged, of another version or unfinished; the message names it.

        """
        data = read_bytes(path)
        head, newline, body = data.partition(b"\n")
        try:
            facts = json.loads(head) if newline and len(head) < 4096 else None
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict) or facts.get("kind") != KIND:
            raise BookError(f"{os.fspath(path)} is not a {KIND}")
        if facts.get("version") not in (1, VERSION):
            raise BookError(
                f"{os.fspath(path)} has version {facts.get('version')!r}; this version reads 1 and {VERSION}"
            )
        if _digest(facts, body) != facts.get("sha256"):
            raise BookError(f"{os.fspath(path)} is damaged: its checksum does not match")
        size = [facts.get(key) for key in ("rows", "columns", "connect", "plies")]
        numbers = [fact for fact in size if type(fact) is int]
        if len(numbers) != len(size) or not 0 <= numbers[-1] <= MOST_PLIES:
            raise BookError(f"{os.fspath(path)} has an invalid header: {facts}")
        rows, columns, connect, plies = numbers
        try:
            make_game("connect-four", rows=rows, columns=columns, connect=connect)
            scores = np.frombuffer(zlib.decompressobj().decompress(body, MOST_SCORES + 1), np.int8)
        except (ValueError, zlib.error) as error:
            raise BookError(f"{os.fspath(path)} is damaged: {error}") from None
        # Positions are listed as far as there are scores: a head could ask for more than memory holds.
        stones = entries = 0
        while stones <= plies and entries <= len(scores):
            entries += len(positions_by_stones(rows, columns, connect, stones)[stones])
            stones += 1
        if len(scores) != entries or stones <= plies:
            wanted = "more" if stones <= plies else entries
            raise BookError(f"{os.fspath(path)} has {len(scores)} scores; {wanted} positions belong to it")
        book = cls.empty(*numbers)
        ends = np.cumsum([len(part) for part in book.scores])
        book = cls(book.size, book.plies, book.keys, [part.copy() for part in np.split(scores, ends[:-1])])
        if not partial and book.missing:
            raise BookError(f"{os.fspath(path)} is unfinished: {book.missing} scores are missing")
        return book

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the book, replacing an older one; raise FileExistsError if the file is not a book."""
        body = zlib.compress(np.concatenate(self.scores).tobytes(), 9)
        rows, columns, connect = self.size
        facts = {
            "kind": KIND,
            "version": VERSION,
            "rows": rows,
            "columns": columns,
            "connect": connect,
            "plies": self.plies,
            "entries": len(self),
        }
        facts["sha256"] = _digest(facts, body)
        write_whole(path, lambda part: part.write_bytes(json.dumps(facts).encode() + b"\n" + body), ours=is_book)


def _digest(facts: dict[str, Any], body: bytes) -> str:
    """Return the checksum of a file: of the head's facts and the body, in version 1 of the body alone."""
    told = {key: value for key, value in facts.items() if key != "sha256"}
    head = b"" if facts["version"] == 1 else json.dumps(told, sort_keys=True).encode()
    return hashlib.sha256(head + body).hexdigest()


def _with_scores(size: tuple[int, int, int], plies: int, scores: list[NDArray[np.int8]]) -> Book:
    return replace(Book.empty(*size, plies), scores=scores)


@functools.cache
def _load_shipped(size: tuple[int, int, int]) -> Book:
    book = Book.load(pathlib.Path(__file__).with_name(SHIPPED[size]))
    if book.size != size:
        raise BookError(f"{SHIPPED[size]} is a book of {book.size}, not of {size}")
    return book


def derive(book: Book, stones: int) -> None:
    """Fill the scores of the positions of one ply from those of the next ply, if any."""
    rows, columns, connect = book.size
    facts = geometry(rows, columns, connect)
    positions = positions_by_stones(rows, columns, connect, book.plies)[stones]
    own, mask = positions[:, 0], positions[:, 1]
    best = np.full(len(positions), -facts.cells, np.int64)
    later_keys, later_scores = np.zeros(0, np.uint64), np.zeros(0, np.int8)
    if stones < book.plies:
        later_keys, later_scores = book.keys[stones + 1], book.scores[stones + 1]
    for column in range(columns):
        shift = np.uint64(column * facts.height)
        move = (mask + (np.uint64(1) << shift)) & ~mask & (facts.column << shift)
        playable = move != 0
        after = np.stack([own ^ mask, mask | move], axis=1)
        keys = keys_of(after, rows, columns)
        values = np.full(len(positions), -facts.cells, np.int64)
        if len(later_keys):
            index = np.minimum(np.searchsorted(later_keys, keys), len(later_keys) - 1)
            going_on = playable & (later_keys[index] == keys)
            values[going_on] = -later_scores[index[going_on]].astype(np.int64)
        values[playable & (after[:, 1] == facts.board)] = 0
        values[playable & has_lines(own | move, rows, connect)] = (facts.cells + 1 - stones) // 2
        best = np.maximum(best, values)
    book.scores[stones][:] = best
