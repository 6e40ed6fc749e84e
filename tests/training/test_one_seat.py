"""What trainers of one seat rely on: the reward is the learner's, and masks are found through wrappers."""

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RecordEpisodeStatistics

import board_envs
from board_envs.registration import gymnasium_id

SMALL = {
    "reversi": {"size": 4},
    "connect-four": {"rows": 4, "columns": 5, "connect": 3},
    "awale": {"pits": 3, "seeds": 2},
    "nim": {"heaps": (2, 3)},
}


def follow(column):
    """Return a policy that plays `column` while it can."""
    return lambda seen: column if seen["action_mask"][column] else int(np.flatnonzero(seen["action_mask"])[0])


@pytest.mark.parametrize("seat", [0, 1])
def test_the_reward_is_the_learners_own(seat):
    # Both stack a column of their own: who begins is first to four, and the loser is rewarded on the step that lost.
    env = gymnasium.make("board_envs/ConnectFour-v0", opponent=follow(6), seat=seat)
    env.reset(seed=0)
    rewards, over = [], False
    while not over:
        _, reward, over, _, info = env.step(0)
        rewards.append(reward)
    assert info["winner"] == 0
    assert rewards == [0, 0, 0, 1] if seat == 0 else rewards == [0, 0, -1]


@pytest.mark.parametrize("name", board_envs.GAMES)
def test_rewards_add_up_to_the_learners_result(name):
    env = gymnasium.make(gymnasium_id(name), opponent="random", seat="random", **SMALL.get(name, {}))
    rng = np.random.default_rng(1)
    seats, results = set(), set()
    for episode in range(100):
        _, info = env.reset(seed=episode)
        total, over = 0.0, False
        while not over:
            _, reward, over, truncated, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            assert over or reward == 0
            assert not truncated
            total += reward
        board = env.unwrapped
        assert total == board.game.returns(board.game_state)[board.seat]
        seats.add(board.seat)
        results.add(total)
    assert seats == {0, 1}
    assert {1.0, -1.0} <= results


@pytest.mark.parametrize("name", board_envs.GAMES)
def test_masks_are_found_through_the_default_wrappers(name):
    env = gymnasium.make(gymnasium_id(name), max_episode_steps=500, opponent="random")
    env = RecordEpisodeStatistics(env)
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    over = False
    while not over:
        mask = env.get_wrapper_attr("action_masks")()
        assert mask.dtype == np.bool_
        np.testing.assert_array_equal(mask, info["action_mask"])
        _, _, terminated, truncated, info = env.step(int(rng.choice(np.flatnonzero(mask))))
        over = terminated or truncated
    assert env.get_wrapper_attr("action_masks")().all()
