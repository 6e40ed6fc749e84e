"""The RLlib recipe: its view of a game, its masking module, and RLlib's own checks of multi-agent episodes."""

import pytest

pytest.importorskip("torch", reason="needs examples/recipes/requirements-rllib.txt")
pytest.importorskip("ray.rllib", reason="needs examples/recipes/requirements-rllib.txt", exc_type=ImportError)

import gymnasium
import numpy as np
import ray
import torch
import train_rllib as recipe
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

import board_envs
from board_envs.registration import gymnasium_id

pytestmark = pytest.mark.filterwarnings("default")

SMALL = {
    "reversi": {"size": 4},
    "connect-four": {"rows": 4, "columns": 4, "connect": 3},
    "awale": {"pits": 3, "seeds": 2},
    "nim": {"heaps": (2, 3)},
}


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def make(name):
    module = getattr(board_envs, f"{name.replace('-', '_')}_v0")
    return module.env(flat=True, **SMALL[name])


def legal(rng, seen):
    return int(rng.choice(np.flatnonzero(seen["action_mask"])))


@pytest.mark.parametrize("name", SMALL)
def test_the_view_shows_the_next_actor_and_pays_every_seat(name):
    env = PettingZooEnv(recipe.RLlibView(make(name)))
    rng = np.random.default_rng(0)
    for _ in range(50):
        seen, _ = env.reset()
        paid, over = {"player_0": 0.0, "player_1": 0.0}, False
        while not over:
            (agent,) = seen
            assert env.observation_spaces[agent].contains(seen[agent])
            seen, rewards, terminated, _, _ = env.step({agent: legal(rng, seen[agent])})
            over = terminated["__all__"]
            for seat, reward in rewards.items():
                paid[seat] += reward
            if not over:
                assert set(seen) == {env.env.agent_selection}
        assert set(seen) == {"player_0", "player_1"}
        board = env.env.unwrapped
        assert tuple(paid.values()) == board.game.returns(board.game_state)


@pytest.mark.parametrize("name", ["connect-four", "reversi"])
def test_multi_agent_episodes_stay_consistent(name):
    """500 games, forced passes (Reversi) and both winners among them, through RLlib's validated episodes."""
    env = PettingZooEnv(recipe.RLlibView(make(name)))
    rng = np.random.default_rng(0)
    winners, passes = set(), 0
    for _ in range(250):
        episode = MultiAgentEpisode(
            observation_space=env.observation_spaces,
            action_space=env.action_spaces,
            agent_to_module_mapping_fn=lambda agent, episode, **_: "player",
        )
        seen, infos = env.reset()
        episode.add_env_reset(observations=seen, infos=infos)
        while not episode.is_done:
            (agent,) = seen
            actions = {agent: legal(rng, seen[agent])}
            seen, rewards, terminated, truncated, infos = env.step(actions)
            passes += set(seen) == {agent}
            episode.add_env_step(
                observations=seen,
                actions=actions,
                rewards=rewards,
                infos=infos,
                terminateds=terminated,
                truncateds=truncated,
            )
            episode.validate()
        for part in episode.agent_episodes.values():
            assert len(part.observations) == len(part.actions) + 1 == len(part.rewards) + 1
        result = {agent: part.get_return() for agent, part in episode.agent_episodes.items()}
        assert sum(result.values()) == 0
        winners.add(result["player_0"])
    assert {1.0, -1.0} <= winners
    assert passes > 0 or name == "connect-four"


class Count(recipe.RLlibView):
    """Count moves and illegal ones where they are made."""

    moves = illegal = 0

    def step(self, action):
        if action is not None:
            Count.moves += 1
            Count.illegal += not self.env.observe(self.agent_selection)["action_mask"][action]
        super().step(action)


def test_ten_thousand_moves_are_sampled_without_an_illegal_one():
    config = recipe.configure(lambda: make("connect-four"), batch=10_000)
    tune.register_env("game", lambda config: PettingZooEnv(Count(make("connect-four"))))
    algorithm = config.build_algo()
    algorithm.train()
    algorithm.stop()
    assert Count.moves >= 10_000
    assert Count.illegal == 0


@pytest.mark.parametrize("name", SMALL)
def test_an_iteration_of_ppo_on_every_game_for_two_seats(name):
    algorithm = recipe.configure(lambda: make(name), batch=300).build_algo()
    losses = algorithm.train()["learners"]["player"]
    assert np.isfinite(losses["total_loss"])
    algorithm.stop()


@pytest.mark.parametrize("name", SMALL)
def test_an_iteration_of_ppo_on_every_game_for_one_seat(name):
    class OneSeat(gymnasium.ObservationWrapper):
        """The one-seat environment under RLlib's names."""

        def __init__(self, env):
            super().__init__(env)
            inner = env.observation_space
            mask = gymnasium.spaces.Box(0, 1, inner["action_mask"].shape, np.float32)
            self.observation_space = gymnasium.spaces.Dict({"action_mask": mask, "observations": inner["observation"]})

        def observation(self, seen):
            return {"action_mask": seen["action_mask"].astype(np.float32), "observations": seen["observation"]}

    options = {"flat": True, "mask_in": "observation", "seat": "random", "illegal": "raise", **SMALL[name]}
    tune.register_env("one", lambda config: OneSeat(gymnasium.make(gymnasium_id(name), **options)))
    module = RLModuleSpec(module_class=recipe.ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [64]})
    algorithm = (
        PPOConfig()
        .environment("one")
        .env_runners(num_env_runners=0)
        .rl_module(rl_module_spec=module)
        .training(train_batch_size_per_learner=300, minibatch_size=64, num_epochs=1)
        .build_algo()
    )
    losses = algorithm.train()["learners"]["default_policy"]  # illegal="raise": one illegal move would end it
    assert np.isfinite(losses["total_loss"])
    algorithm.stop()


def test_an_untrained_policy_draws_the_only_legal_action(one_legal_move):
    game = board_envs.make_game("connect-four", **SMALL["connect-four"])
    state = one_legal_move(game)
    algorithm = recipe.configure(lambda: make("connect-four")).build_algo()
    module = algorithm.get_module("player")
    board = game.observe(state, game.current_player(state)).reshape(1, -1)
    batch = {
        "action_mask": torch.as_tensor(game.legal_mask(state)).float().expand(20_000, -1),
        "observations": torch.as_tensor(board).float().expand(20_000, -1),
    }
    with torch.no_grad():
        logits = module.forward_exploration({"obs": batch})["action_dist_inputs"]
    drawn = torch.distributions.Categorical(logits=logits).sample()
    algorithm.stop()
    assert set(drawn.tolist()) == set(game.legal_actions(state))
