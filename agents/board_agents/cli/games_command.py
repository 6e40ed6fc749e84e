"""``board-envs games``: list games and agents."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

import board_envs
from board_agents.cli.console import AsJson, UserError, out, print_json, show_value
from board_agents.registry import agent_names, agent_parameters
from board_envs.registration import gymnasium_id, module_name, pettingzoo_id
from board_envs.registry import check_name, game_module, game_names, game_parameters

LONGEST_EXAMPLE = 40
"""Longest example shown in a table, in characters."""
_ENTRY = re.compile(r"\s+(\w+): (.*)")


def command(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Show only this game.")] = None,
    json: AsJson = False,
) -> None:
    """List games, with parameters, defaults, limits and ids, and agents."""
    try:
        names = game_names() if name is None else [check_name(name)]
    except ValueError as error:
        raise UserError(str(error)) from error
    entries = [describe(name) for name in names]
    game = names[0] if name is not None else None
    agents = [{"name": agent, "parameters": agent_texts(agent, game)} for agent in agent_names(game)]
    if json:
        print_json({"version": board_envs.__version__, "games": entries, "agents": agents})
        return
    console = out()
    table = Table("game", "parameter", "default", "limits", title="Games", title_justify="left")
    for entry in entries:
        first = entry["name"]
        if not entry["parameters"]:
            table.add_row(Text(first), "", "", "")
        for key, parameter in entry["parameters"].items():
            table.add_row(Text(first), Text(key), Text(show_value(parameter["default"])), Text(parameter["limits"]))
            first = ""
        table.add_section()
    console.print(table)
    ids = Table("game", "Gymnasium id", "PettingZoo id", "module", title="Environments", title_justify="left")
    for entry in entries:
        ids.add_row(entry["name"], entry["gymnasium_id"], entry["pettingzoo_id"], entry["module"])
    console.print(ids)
    if name is not None:
        for entry in entries:
            console.print(_forms_table(entry))
    players = Table("agent", "parameters", title="Agents (name:key=value,key=value)", title_justify="left")
    for agent in agents:
        players.add_row(Text(str(agent["name"])), Text(", ".join(agent["parameters"])))
    console.print(players)


def _forms_table(entry: dict[str, Any]) -> Table:
    """Return a table of a game's forms; only --json prints examples of several lines."""
    title = f"Forms of {entry['name']}, read by analyse, play, tournament and records; * also written"
    table = Table("form", "kind", "what it is", "example", title=title, title_justify="left")
    for form in entry["forms"]:
        example = form["example"].splitlines()[:1] or [" ".join(form["suffixes"])]
        shown = example[0] if len(example[0]) <= LONGEST_EXAMPLE else example[0][:LONGEST_EXAMPLE] + "..."
        name = form["name"] + (" *" if form["written"] else "")
        table.add_row(Text(name), form["kind"], Text(form["description"]), Text(shown))
    return table


def describe(name: str) -> dict[str, Any]:
    """Return the facts of a game at its default size; limits come from the docstring of its constructor."""
    game = board_envs.make_game(name)
    limits = documented(game_module(name).make)
    module = module_name(name)
    return {
        "name": name,
        "parameters": {
            key: {"default": default, "limits": limits.get(key, "")} for key, default in game_parameters(name).items()
        },
        "gymnasium_id": gymnasium_id(name),
        "pettingzoo_id": pettingzoo_id(name),
        "module": f"board_envs.{module}" if hasattr(board_envs, module) else f"board_envs.env({name!r})",
        "num_actions": game.num_actions,
        "observation_shape": game.observation_shape,
        "unit": game.unit,
        "longest_game": game.max_plies,
        "forms": [
            {
                "name": form.name,
                "kind": form.kind,
                "description": form.description,
                "example": form.example,
                "written": form.write is not None or form.write_file is not None,
                "suffixes": list(form.suffixes),
            }
            for form in game.forms
        ],
    }


def documented(function: Any) -> dict[str, str]:
    """Return parameter -> description, read from the "Args:" of a docstring."""
    _, _, args = (inspect.getdoc(function) or "").partition("Args:\n")
    texts: dict[str, str] = {}
    key = ""
    for line in args.split("\n\n")[0].splitlines():
        if entry := _ENTRY.fullmatch(line):
            key = entry[1]
            texts[key] = entry[2].strip()
        elif key:
            texts[key] += " " + line.strip()
    return texts


def agent_texts(name: str, game: str | None = None) -> list[str]:
    """List an agent's parameters with defaults, as written in a spec."""
    return [
        key if parameter.default is parameter.empty else f"{key}={show_value(parameter.default)}"
        for key, parameter in agent_parameters(name, game).items()
        if not callable(parameter.default) or parameter.default is parameter.empty
    ]
