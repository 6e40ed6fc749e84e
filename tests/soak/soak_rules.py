"""Random games against OpenSpiel's rules, and against plain lists for Awalé's tamale rules, which it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pyspiel
from awale_lists import Naive
from soak_common import pieces

from board_envs import make_game

PLIES, PIECE = 1_000_000, 10_000

Game = Callable[[Random], Iterator[None]]
"""Plays one random game, yields after each ply and raises AssertionError where the two sides differ."""


def _results(game: Any, state: Any, theirs: Any) -> None:
    assert game.is_terminal(state), f"not over: {game.format(state)}"
    assert list(game.returns(state)) == theirs.returns(), f"{game.returns(state)} at {game.format(state)}"


def _like(name: str, rival: str, rng: Random, **parameters: Any) -> Iterator[None]:
    """Play where both sides number moves alike; a pass is only theirs."""
    game, theirs = make_game(name, **parameters), pyspiel.load_game(rival).new_initial_state()
    state = game.initial_state()
    while not theirs.is_terminal():
        legal = theirs.legal_actions()
        if legal == [game.num_actions]:
            theirs.apply_action(legal[0])
            continue
        where = game.format(state)
        assert game.current_player(state) == theirs.current_player(), where
        assert game.legal_actions(state) == sorted(legal), where
        action = rng.choice(legal)
        theirs.apply_action(action)
        state = game.step(state, action)
        yield
    _results(game, state, theirs)


def reversi(rng: Random) -> Iterator[None]:
    yield from _like("reversi", "othello", rng)


def connect_four(rng: Random) -> Iterator[None]:
    yield from _like("connect-four", "connect_four", rng)


def awale_abapa(rng: Random) -> Iterator[None]:
    yield from _like("awale", "oware", rng, pits=6, seeds=4, ruleset="abapa")


def nim(rng: Random) -> Iterator[None]:
    """OpenSpiel numbers moves (count - 1) * heaps + heap."""
    heaps = tuple(rng.randint(1, 9) for _ in range(rng.randint(1, 6)))
    misere = rng.random() < 0.5
    game = make_game("nim", heaps=heaps, misere=misere)
    rival = pyspiel.load_game("nim", {"pile_sizes": ";".join(map(str, heaps)), "is_misere": misere})
    theirs, state, width = rival.new_initial_state(), game.initial_state(), len(heaps)
    while not theirs.is_terminal():
        assert game.current_player(state) == theirs.current_player()
        actions = {}
        for action in game.legal_actions(state):
            heap, count = map(int, game.action_to_text(state, action).split(":"))
            actions[(count - 1) * width + heap - 1] = action
        assert sorted(actions) == sorted(theirs.legal_actions()), game.format(state)
        chosen = rng.choice(sorted(actions))
        theirs.apply_action(chosen)
        state = game.step(state, actions[chosen])
        yield
    _results(game, state, theirs)


def awale_tamale(rng: Random) -> Iterator[None]:
    pits, seeds = rng.choice(((4, 3), (4, 3), (6, 4), (3, 3), (5, 2), (2, 4)))
    game, naive = make_game("awale", pits=pits, seeds=seeds), Naive(pits, seeds, "tamale")
    state = game.initial_state()
    shy = rng.random() < 0.3  # of harvests: long histories, and mats
    while True:
        legal = naive.legal()
        assert game.format(state) == naive.text()
        assert game.legal_actions(state) == legal, naive.text()
        assert game.is_terminal(state) == naive.over, naive.text()
        if naive.over:
            break
        calm = [pit for pit in legal if not naive.after(pit)[1]] if shy else []
        pit = rng.choice(calm or legal)
        state = game.step(state, pit)
        naive.play(pit)
        yield
    margin = naive.stores[0] - naive.stores[1]
    assert game.margin(state) == margin, naive.text()
    assert game.returns(state)[0] == (margin > 0) - (margin < 0), naive.text()


GAMES: dict[str, Game] = {
    "reversi": reversi,
    "connect four": connect_four,
    "awale abapa": awale_abapa,
    "awale tamale": awale_tamale,
    "nim": nim,
}


class Play:
    """Plays a number of plies of one game."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, seed: str, plies: int) -> list[str]:
        rng, faults = Random(seed), []
        while plies > 0 and len(faults) < 5:
            try:
                for _ in GAMES[self.name](rng):
                    plies -= 1
            except (AssertionError, ValueError) as error:  # noqa: PERF203  # a game goes wrong, the next begins
                faults.append(f"{type(error).__name__}: {error}")
        return faults


def jobs(scale: float) -> Iterator[tuple[str, Any, int, float]]:
    """Yield a million plies a game."""
    for name in GAMES:
        for plies in pieces(PLIES * scale, PIECE):
            yield name, Play(name), plies, plies / 10_000
