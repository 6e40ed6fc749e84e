"""The typer application with all commands."""

from __future__ import annotations

from typing import Annotated

import typer

import board_envs
from board_agents.cli import analyse_command as analyse
from board_agents.cli import evaluate_command as evaluate
from board_agents.cli import games_command as games
from board_agents.cli import play_command as play
from board_agents.cli import records_command as records
from board_agents.cli import report_command as report
from board_agents.cli import tables_command as tables
from board_agents.cli import tournament_command as tournament
from board_agents.cli import warmup_command as warmup


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
    # A position may begin with "-": do not reject it as an option.
    app.command("analyse", context_settings={"ignore_unknown_options": True})(analyse.command)
    app.command("play")(play.command)
    app.add_typer(records.make_app(), name="records")
    app.command("report")(report.command)
    app.add_typer(tables.make_app(), name="tables")
    app.command("games")(games.command)
    app.command("warmup")(warmup.command)
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
    """Define the options before a command."""
