"""Agents and oracles are typed by the states of their game: type checkers find a state of another one."""

import subprocess
import sys

RIGHT = """
from board_agents import Agent, GameAgent, make_agent, make_oracle
from board_envs.games import nim
from board_envs.types import Oracle

game = nim.make((3, 4, 5))
agent: Agent[nim.State] = make_agent("nim-xor", game)
action: int = agent.act({}, game.initial_state())
oracle: Oracle[nim.State] = make_oracle(game)
oracle.action_values(game.initial_state())


class TakesTheLast(GameAgent[nim.State]):
    def choose(self, state: nim.State) -> int:
        return max(self.game.legal_actions(state))


other: Agent[nim.State] = TakesTheLast(game)
"""
WRONG = """
from board_agents import make_agent, make_oracle
from board_agents.games.nim.xor_agent import NimXorAgent
from board_envs.games import nim, reversi

game, other = nim.make((3, 4, 5)), reversi.make(6)
make_agent("nim-xor", game).act({}, other.initial_state())
make_oracle(game).action_values(other.initial_state())
NimXorAgent(other)
NimXorAgent(game).choose(other.initial_state())
"""
WRONG_LINES = (7, 8, 9, 10)


def test_a_state_of_another_game_is_a_type_error(tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(RIGHT, encoding="utf-8")
    wrong.write_text(WRONG, encoding="utf-8")
    options = ["--strict", "--config-file", "", "--cache-dir", str(tmp_path / "cache"), "--follow-untyped-imports"]
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(right), str(wrong)], capture_output=True, text=True, check=False
    )
    errors = [line for line in ended.stdout.splitlines() if ": error:" in line]
    assert [line.split(": error:")[0].rsplit("/")[-1] for line in errors] == [f"wrong.py:{n}" for n in WRONG_LINES]
