# pyright: strict
"""A user's program over the public names. mypy and pyright check it strictly, and a test runs it.

An annotation here is a promise: what it says is what editors show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import board_envs
from board_agents import Agent, GameAgent, agent_builder, as_agent, batch_policy, make_agent, make_oracle
from board_agents.arena import GameRecord, Rating, Result, Standing, make_openings, play_game, tournament
from board_envs.envs.aec import BoardAECEnv
from board_envs.envs.single import BoardEnv
from board_envs.envs.vector import BoardVectorEnv
from board_envs.game import Game
from board_envs.games import nim
from board_envs.types import Oracle, Outcome


class TakesMost(GameAgent[nim.State]):
    """An agent that thinks about states."""

    def choose(self, state: nim.State) -> int:
        """Take as many objects as possible from the last heap."""
        return max(self.game.legal_actions(state))


def lowest(observation: Mapping[str, NDArray[Any]]) -> int:
    """Play the first legal action."""
    return int(np.argmax(observation["action_mask"]))


@batch_policy
def lowest_of_many(boards: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.intp]:
    """Play the first legal action in each position."""
    return np.asarray(masks.argmax(axis=1), np.intp)


@agent_builder
def build(game: Game[nim.State]) -> TakesMost:
    """Make an agent for a game."""
    return TakesMost(game)


def play() -> Result:
    """Use games, agents, oracles and the arena."""
    any_game: Game[Any] = board_envs.make_game("connect-four", rows=5)
    actions: list[int] = any_game.read_moves("445")
    text: str = any_game.write_moves(actions)
    game: Game[nim.State] = nim.make(heaps=(1, 2, 3))
    state: nim.State = game.from_moves("3:1")
    winner: Outcome = game.winner(state)
    returns: tuple[int, int] = game.returns(state)
    mask: NDArray[np.int8] = game.legal_mask(state)
    seen: NDArray[np.int8] = game.observe(state, 0)
    oracle: Oracle[nim.State] = make_oracle(game)
    values: dict[int, float] | None = oracle.action_values(state)
    agent: Agent[nim.State] = make_agent("nim-xor", game)
    agent.reset(seed=1)
    action: int = agent.act({"observation": seen, "action_mask": mask}, state)
    other: Agent[nim.State] = as_agent(lowest, game)
    print(text, winner, returns, values, game.action_to_text(state, action), other)
    record: GameRecord = play_game(game, [agent, build], names=("xor", "most"), seeds=(1, 2))
    result: Result = tournament(game, {"most": TakesMost, "low": lowest, "many": lowest_of_many}, games=2, seed=1)
    standing: Standing = result.standings[0]
    print(record.actions, standing.name, standing.total.wins, len(make_openings(game, 2, 0)))
    return result


def environments() -> None:
    """Use the environments by their classes: PettingZoo's and Gymnasium's own ``make`` return less known types."""
    raw: BoardAECEnv = board_envs.nim_v0.raw_env(heaps=(1, 2))
    raw.reset(seed=1)
    agent: str = raw.agent_selection
    raw.step(raw.game.legal_actions(raw.game.initial_state())[0])
    single = BoardEnv("nim", opponent="random")
    observation, info = single.reset(seed=1)
    observation, reward, terminated, truncated, info = single.step(0)
    several = BoardVectorEnv("nim", num_envs=2)
    boards, infos = several.reset(seed=1)
    print(agent, observation.shape, reward, terminated, truncated, info["margin"], boards.shape, infos["to_play"])


if __name__ == "__main__":
    rating: Rating = play().ratings.of("most")
    print(rating)
    environments()
