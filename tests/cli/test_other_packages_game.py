"""A game of another package, known by its metadata alone, in every command that plays, records, judges and reports."""

import json
import os
import subprocess
import sys

import pytest

GAME = '''
"""Sticks: two heaps; whoever takes the last stick wins."""
import dataclasses

from board_envs.forms import common_forms
from board_envs.registry import game_drawing, make_game

NIM = make_game("nim", heaps=(3, 4))


def make():
    """Make the game; it has no parameters."""
    return dataclasses.replace(NIM, name="sticks", parameters={}, outside_forms=common_forms)


def picture(game, state):
    return game_drawing("nim")(NIM, state)
'''
AGENTS = """
from board_agents.support import Support, Unit

SUPPORT = Support(
    agents={"picker": "board_agents.players.random_agent:RandomAgent"},
    unit=Unit("win", "win", "takes the last stick", "leaves it"),
)
"""
ENTRY_POINTS = """
[board_envs.games]
sticks = sticks_game

[board_envs.support]
sticks = sticks_agents:SUPPORT
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Return a function that runs the command line where the package is installed."""
    site = tmp_path_factory.mktemp("site")
    (site / "sticks_game.py").write_text(GAME, encoding="utf-8")
    (site / "sticks_agents.py").write_text(AGENTS, encoding="utf-8")
    metadata = site / "sticks_game-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sticks-game\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))}
    program = "import sys; from board_agents.cli import main; sys.exit(main())"

    def call(*arguments, code=0):
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, *map(str, arguments)],
            capture_output=True, text=True, check=False, env=environment, cwd=site,
        )  # fmt: skip
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended.stdout if code == 0 else ended.stderr

    return call


def test_it_is_listed_though_it_has_no_parameters(command):
    listed = json.loads(command("games", "sticks", "--json"))
    (game,) = listed["games"]
    assert (game["name"], game["parameters"], game["module"]) == ("sticks", {}, "board_envs.env('sticks')")
    assert "picker" in {agent["name"] for agent in listed["agents"]}
    assert "│ sticks │" in command("games", "sticks")


def test_a_position_is_analysed_in_its_words(command):
    assert "takes the last stick" in command("analyse", "sticks")
    found = json.loads(command("analyse", "sticks", "1,2", "--json"))
    # The winning move of Nim leaves equal heaps.
    assert (found["exact"], found["best"]) == (True, ["2:1"])


def test_games_are_played_recorded_replayed_and_reported(command, tmp_path):
    records, database, page = tmp_path / "games.jsonl", tmp_path / "games.db", tmp_path / "report.html"
    agents = "random,picker,mcts:simulations=20,alpha-beta:depth=8"
    result = json.loads(command("tournament", "sticks", "-a", agents, "-n", "2", "--records", records, "--json"))
    standings = {entry["name"]: entry for entry in result["agents"]}
    assert set(standings) == {"random", "picker", "mcts:simulations=20", "alpha-beta:depth=8"}
    assert all(sum(entry["faults"].values()) == 0 for entry in standings.values())
    assert "12 games" in command("records", "check", records)
    assert "12 games written" in command("records", "copy", records, database)
    assert "12 games" in command("report", database, "-o", page)
    assert "sticks" in page.read_text(encoding="utf-8")


def test_an_agent_is_judged(command):
    judged = json.loads(command("evaluate", "alpha-beta:depth=8", "sticks", "--games", "4", "--json"))
    # It sees the end of every game: no regret.
    assert (judged["total"]["mean_regret"], judged["total"]["share_counted"]) == (0, 1)


def test_an_unknown_name_is_answered_with_a_near_one(command):
    assert "unknown game 'stick' (did you mean 'sticks'?)" in command("games", "stick", code=2)
