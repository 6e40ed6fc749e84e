"""Damaged positions, moves, games and specs: read as something legal, or refused by an error of the project."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from random import Random
from typing import Any

from soak_common import damaged_text, fault_of, little_memory, pieces

from board_agents import make_agent, make_oracle
from board_agents.cli.console import UserError, read_game
from board_agents.registry import agent_names, agent_parameters, oracle_names, oracle_parameters
from board_envs import GAMES, make_game
from board_envs.forms import read_one, read_position, read_text
from board_envs.types import IllegalActionError, MissingExtraError, PositionError, SpecError

TEXTS, PIECE = 100_000, 1000
SIZES = (
    *((name, {}) for name in GAMES),
    ("reversi", {"size": 4}), ("reversi", {"size": 6}), ("connect-four", {"rows": 4, "columns": 12, "connect": 4}),
    ("awale", {"pits": 6, "seeds": 4, "ruleset": "abapa"}), ("awale", {"pits": 1, "seeds": 20}),
    ("nim", {"heaps": (1,)}), ("nim", {"heaps": (9, 8, 7, 6, 5), "misere": True}),
)  # fmt: skip
ERRORS = (PositionError, IllegalActionError)
FOREIGN = {"program", "human", "kaggle", "sb3", "torch", "open-spiel"}
"""Agents whose specs run programs or read files; a damaged one might run another."""


@functools.cache
def game_of(number: int) -> Any:
    name, parameters = SIZES[number]
    return make_game(name, **parameters)


@functools.cache
def texts_of(number: int) -> list[str]:
    """Examples of all forms of a game, and a game and a position on the way in each form that is written."""
    game, rng = game_of(number), Random(number)
    texts = [form.example for form in game.forms if form.example]
    for _ in range(3):
        state, actions = game.initial_state(), []
        for _ in range(rng.randint(1, 60)):
            if game.is_terminal(state):
                break
            actions.append(rng.choice(game.legal_actions(state)))
            state = game.step(state, actions[-1])
        texts += [game.format(state), game.write_moves(actions)]
        for form in game.forms:
            if form.write is not None:
                item = next(iter(read_text(game, game.write_moves(actions), "moves")))
                with contextlib.suppress(PositionError):  # a form may want a value or a result
                    texts.append(form.write(item))
    return texts


@functools.cache
def specs_of(number: int) -> list[str]:
    name = game_of(number).name
    specs = []
    for names, parameters in ((agent_names, agent_parameters), (oracle_names, oracle_parameters)):
        for spec in names(name) if names is agent_names else names():
            if spec not in FOREIGN:
                known = parameters(spec, name)
                values = ",".join(f"{key}={p.default}" for key, p in known.items() if p.default is not p.empty)
                specs.append(f"{spec}:{values}" if values else spec)
    return specs


def _read(rng: Random, number: int, text: str) -> str:
    game = game_of(number)

    def whole() -> None:
        for item in read_text(game, text, rng.choice((None, rng.choice(game.forms).name))):
            assert (item.state is None) == bool(item.error)
            if item.state is not None:
                game.check_state(item.state)
                game.parse(game.format(item.state))

    def position() -> None:
        game.check_state(game.parse(text))

    ways = (
        whole, whole, position,
        lambda: game.check_state(read_one(game, text).state),
        lambda: game.check_state(read_position(game, text)),
        lambda: game.check_state(game.from_moves(text)),
        lambda: game.from_moves(text.split()),
    )  # fmt: skip
    return fault_of(rng.choice(ways), ERRORS)


def _spec(rng: Random, number: int) -> str:
    game = game_of(number)
    specs = specs_of(number)
    text = damaged_text(rng, rng.choice(specs), rng.choice(specs))
    while any(name in text for name in (".py", *FOREIGN)):
        text = damaged_text(rng, rng.choice(specs), rng.choice(specs))
    name, _parameters = SIZES[number]
    pairs = [damaged_text(rng, f"{key}={value}", "x=1") for key, value in game.parameters.items()]
    ways = (
        lambda: make_agent(text, game),
        lambda: make_oracle(game, text),
        lambda: read_game(name, rng.sample(pairs, rng.randint(0, len(pairs)))),
        lambda: read_game(damaged_text(rng, name, name)),
    )
    fault = fault_of(rng.choice(ways), (SpecError, MissingExtraError, UserError, ImportError))
    return f"{fault} for the spec {text!r:.200} or {pairs!r:.300}" if fault else ""


def read(seed: str, count: int) -> list[str]:
    """Read damaged texts; a tenth of them are specs."""
    rng, faults = Random(seed), []
    for number in range(len(SIZES)):
        texts_of(number)
        specs_of(number)
    with little_memory():
        for _ in range(count):
            number = rng.randrange(len(SIZES))
            if rng.random() < 0.1:
                fault = _spec(rng, number)
            else:
                text = damaged_text(rng, rng.choice(texts_of(number)), rng.choice(texts_of(number)))
                fault = _read(rng, number, text)
                fault = fault and f"{fault} for {SIZES[number]} and {text!r:.600}"
            if fault and len(faults) < 5:
                faults.append(fault)
    return faults


def jobs(scale: float) -> Iterator[tuple[str, Any, int, float]]:
    """Yield the texts of all games."""
    for count in pieces(TEXTS * scale, PIECE):
        yield "damaged texts", read, count, count / 500
