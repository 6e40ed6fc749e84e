"""The typer application: which commands there are."""

from __future__ import annotations

from typing import Annotated

import typer

import board_envs
from board_agents.cli import evaluate, games, play, tournament


def make_app() -> typer.Typer:
    """Return the application with all its commands."""
    app = typer.Typer(
        name="board-envs",
        help="Two-player board games with ground truth: tournaments, play, exact analysis.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    app.command("tournament")(tournament.command)
    app.command("evaluate")(evaluate.command)
    app.command("play")(play.command)
    app.command("games")(games.command)
    return app


def _version(asked: bool) -> None:
    if asked:
        print(f"board-envs {board_envs.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Hold the options that stand before a command."""
