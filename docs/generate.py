"""Write the pages and pictures that are made from code: a page a game, the gallery of examples, the overview.

    python docs/generate.py            writes them
    python docs/generate.py --check    exits with status 1 if a file differs from what would be written

The overview holds exact values, whose solvers need numba (extra `fast`); without it the file is left as it is.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from board_agents import make_oracle
from board_agents.cli.games_command import describe
from board_agents.registry import make_agent
from board_agents.support import exact_unit, support_of
from board_envs import GAMES, make_game
from board_envs.envs.common import make_spaces
from board_envs.game import Game
from board_envs.pictures.svg import picture, svg, svg_shape
from board_envs.registry import snake_name

DOCS = Path(__file__).parent
PLIES = 12
"""How many random moves lead to the position on a game's page."""

CARD, GAP, HEAD, BOARD, CELL, ROW = 250, 14, 34, 200, 33, 38
"""Of the overview, in pixels: a card's width, gaps, the title's height, a board's height, a move's width and height."""
ACROSS = 7
"""Moves in one row of a card."""
SHOWN = (
    ("connect-four", {}, "moves", "6354612174441"),
    ("reversi", {}, "position", "---XXXXOO-XXXXOOXO-XOOXOX-OXOXOOXOOXXOOOXOOXXOO-XXXXXXOOXO-XXX-- X"),
    ("awale", {}, "position", "0,2,1,2,1,1,0,0,1,1,1,0;17,21 0"),
    ("nim", {}, "position", "3,4,5 0"),
)
"""The positions of the overview: game, parameters, and how the position is given."""


# -- the games --------------------------------------------------------------------------------------------------------


def example_state(game: Game[Any]) -> Any:
    """Return a position in the middle of a game of random moves."""
    plies = PLIES if game.max_plies is None else min(PLIES, game.max_plies // 3)
    agent = make_agent("random", game)
    for seed in range(100):
        agent.reset(seed=seed)
        state = game.initial_state()
        for _ in range(plies):
            if not game.is_terminal(state):
                state = game.step(state, agent.act(seen(game, state)))
        if not game.is_terminal(state):
            return state
    raise ValueError(f"{game!r}: every game of random moves is over within {plies} plies")


def example_picture(name: str) -> str:
    """Return the picture on a game's page."""
    game = make_game(name)
    return svg(game, example_state(game)) + "\n"


def seen(game: Game[Any], state: Any) -> dict[str, Any]:
    """Return what the seat to move sees."""
    return {"observation": game.observe(state, game.current_player(state)), "action_mask": game.legal_mask(state)}


def bounds(space: Any) -> str:
    """Describe a Box whose bounds are the same everywhere."""
    assert np.unique(space.low).size == np.unique(space.high).size == 1
    return f"`{space.dtype}` `{space.shape}`, {space.low.min():g} to {space.high.max():g}"


def table(*rows: tuple[str, ...]) -> list[str]:
    """Return a table's lines; the first row is its head."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [lines[0], "|" + " --- |" * len(rows[0]), *lines[1:], ""]


def game_page(name: str) -> str:
    """Return the page of a game at its usual size."""
    game, facts = make_game(name), describe(name)
    about, support = game.about, support_of(name)
    snake = snake_name(name)
    board, _ = make_spaces(game, "info", False)
    flat, _ = make_spaces(game, "info", True)
    state = example_state(game)
    module = facts["module"]
    environment = module if module.endswith(")") else f"{module}.env()"
    lines = [f"<!-- Written by docs/generate.py; what a game says of itself is in {GAMES[name]}. -->"]
    lines += [f"# {about.title if about else name}", ""]
    if about:
        lines += [about.summary[0].upper() + about.summary[1:] + ".", ""]
    lines += [f"![A position of {about.title if about else name}](../pictures/{snake}.svg)", ""]
    lines += table(
        ("what", "name"),
        ("rules", f'`board_envs.make_game("{name}")`'),
        ("PettingZoo", f"`{environment}`, id `{facts['pettingzoo_id']}`"),
        ("Gymnasium", f'`gymnasium.make("{facts["gymnasium_id"]}")`, `gymnasium.make_vec` with the same id'),
        ("command line", f"`board-envs play {name}`"),
    )
    if facts["parameters"]:
        rows = ((f"`{key}`", f"`{one['default']!r}`", one["limits"]) for key, one in facts["parameters"].items())
        lines += ["## Parameters", "", *table(("parameter", "default", "limits"), *rows)]
    lines += ["## Observation", ""]
    rows = [("default", bounds(board))]
    if about:
        rows += [(f"axis {axis}", meaning) for axis, meaning in enumerate(about.axes)]
        rows += [(f"`[..., {plane}]`", meaning) for plane, meaning in enumerate(about.planes)]
    index = "observation.reshape(-1)"
    rows.append(("`flat=True`", f"{bounds(flat)}: `{index}`, the last axis running fastest"))
    lines += table(("part", f"{game!r}"), *rows)
    lines += ["## Actions, rewards, end", ""]
    start = game.initial_state()
    legal = game.legal_actions(start)
    names = [f"{action} is `{game.action_to_text(start, action)}`" for action in (legal[0], legal[-1])]
    rows = [("actions", f"`Discrete({game.num_actions})`" + (f": {about.actions}" if about else ""))]
    rows += [
        (
            "at the start",
            f"{len(legal)} legal moves, of which {' and '.join(names)}",
        ),
        ("moves as text", game.notation.legend),
        ("reward", "+1 to the winner, -1 to the loser on the step that ends the game; 0 for a draw and before"),
        ("margin", f"player_0's {game.unit} minus player_1's" if game.unit != "win" else "the reward of player_0"),
    ]
    if about:
        rows.append(("end", about.end))
    longest = "no bound stated" if game.max_plies is None else f"{game.max_plies} moves"
    rows.append(("longest game", longest + (f": {about.length}" if about else "")))
    lines += table(("what", f"{game!r}"), *rows)
    lines += ["## Exact values and agents of its own", ""]
    lines += table(
        ("what", "name"),
        ("exact values count", exact_unit(game)),
        ("oracles", ", ".join(f"`{one}`" for one in support.oracles) or "`exhaustive`"),
        ("agents of this game alone", ", ".join(f"`{one}`" for one in support.agents) or "none"),
        ("evaluations", ", ".join(f"`{one}`" for one in (*support.evaluations, "margin", "zero"))),
    )
    lines += ["## The position above as text", "", "```text", game.format(state), "", game.draw(state), "```", ""]
    forms = [
        (f"`{form['name']}`", form["kind"], form["description"], "read and written" if form["written"] else "read")
        for form in facts["forms"]
    ]
    lines += ["## Forms", "", *table(("form", "kind", "what it is", "used"), *forms)]
    return "\n".join(lines).rstrip() + "\n"


def games_index() -> str:
    """Return the page that lists the games."""
    lines = ["<!-- Written by docs/generate.py. -->", "# The games", ""]
    rows = []
    for name in GAMES:
        game = make_game(name)
        about = game.about
        link = f"[{about.title if about else name}]({snake_name(name)}.md)"
        longest = "none stated" if game.max_plies is None else str(game.max_plies)
        rows.append((link, about.summary if about else "", str(game.num_actions), longest))
    lines += table(("game", "in short", "actions", "longest game"), *rows)
    lines += [":::{toctree}", ":hidden:", "", *map(snake_name, GAMES), ":::"]
    return "\n".join(lines) + "\n"


# -- the overview -----------------------------------------------------------------------------------------------------


def card(name: str, parameters: dict[str, Any], kind: str, text: str) -> str:
    """Return one game of the overview: title, board, and every move with its exact value."""
    game = make_game(name, **parameters)
    state = game.from_moves(text) if kind == "moves" else game.parse(text)
    values = make_oracle(game).action_values(state)
    if values is None:
        raise ValueError(f"{name}: no oracle knows {text}")
    drawn = picture(game, state)
    title = game.about.title if game.about else name
    parts = [
        f'<text x="{CARD / 2:g}" y="24" font-size="18" font-weight="600" fill="#222222">{escape(title)}</text>',
        f'<svg x="10" y="{HEAD}" width="{CARD - 20}" height="{BOARD}" viewBox="0 0 {drawn.width:g} {drawn.height:g}">'
        + "".join(map(svg_shape, drawn.shapes))
        + "</svg>",
    ]
    best = max(values.values())
    for place, (action, value) in enumerate(sorted(values.items())):
        in_row = min(ACROSS, len(values) - place // ACROSS * ACROSS)
        x = (CARD - in_row * CELL) / 2 + place % ACROSS * CELL
        y = HEAD + BOARD + 10 + place // ACROSS * ROW
        fill, ink = ("#2e7d4f", "#ffffff") if value == best else ("#e9edf2", "#222222")
        move = escape(game.action_to_text(state, action))
        said = f"{value:+g}" if value else "0"
        parts.append(
            f'<rect x="{x + 1:g}" y="{y:g}" width="{CELL - 2}" height="{ROW - 3}" rx="4" fill="{fill}"/>'
            f'<text x="{x + CELL / 2:g}" y="{y + 14:g}" font-size="11" fill="{ink}">{move}</text>'
            f'<text x="{x + CELL / 2:g}" y="{y + 29:g}" font-size="13" font-weight="600" fill="{ink}">{said}</text>'
        )
    return "".join(parts)


def overview() -> str:
    """Return the picture of all games side by side."""
    height = HEAD + BOARD + 10 + 2 * ROW + 8
    width = len(SHOWN) * (CARD + GAP) - GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'text-anchor="middle" font-family="sans-serif">'
        "<title>A position of each game with the exact value of every move, the best moves in green</title>"
    ]
    for number, shown in enumerate(SHOWN):
        x = number * (CARD + GAP)
        parts.append(f'<rect x="{x}" width="{CARD}" height="{height}" rx="10" fill="#ffffff" stroke="#d5dbe3"/>')
        parts.append(f'<g transform="translate({x} 0)">{card(*shown)}</g>')
    return "\n".join([*parts, "</svg>"]) + "\n"


# -- the examples -----------------------------------------------------------------------------------------------------


def gallery() -> str:
    """Return the page that shows every example with the first sentence of its docstring."""
    lines = ["<!-- Written by docs/generate.py. -->", "# Gallery of examples", ""]
    lines += ["Each program runs as it stands; a test runs it, or the tests of its trainer do.", ""]
    for folder, title in (("examples", "Programs"), ("examples/recipes", "One program a trainer")):
        lines += [f"## {title}", ""]
        for path in sorted((DOCS.parent / folder).glob("*.py")):
            said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            sentence = " ".join(said.split("\n\n")[0].split())
            place = f"../{folder}/{path.name}"
            lines += [f"### {path.name}", "", sentence, ""]
            lines += [f":::{{literalinclude}} {place}", ":language: python", ":::", ""]
    return "\n".join(lines).rstrip() + "\n"


# -- writing ----------------------------------------------------------------------------------------------------------


def files() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield each generated file's path below docs, and what makes its text."""
    yield "games/index.md", games_index
    for name in GAMES:
        yield f"games/{snake_name(name)}.md", lambda name=name: game_page(name)
        yield f"pictures/{snake_name(name)}.svg", lambda name=name: example_picture(name)
    yield "gallery.md", gallery
    if importlib.util.find_spec("numba"):
        yield "pictures/overview.svg", overview


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description="Write the pages and pictures that are made from code.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a file differs")
    options = parser.parse_args(arguments)
    stale = []
    for name, make in files():
        path, text = DOCS / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not options.check:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"docs/{name} {'is not what docs/generate.py writes' if options.check else 'written'}", file=sys.stderr)
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
