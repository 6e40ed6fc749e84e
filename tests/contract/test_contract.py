"""What holds for every game: the frameworks' checkers, ours, seeds, copies, what users of similar projects report."""

import copy
import importlib
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import cloudpickle
import gymnasium
import numpy as np
import pettingzoo
import pytest
from contract_common import (
    every_case,
    every_game,
    gymnasium_id,
    module_of,
    play_random,
    play_single,
    recording,
)
from gymnasium.utils.env_checker import check_env as gymnasium_check_env

import board_envs
from board_envs.envs.single import BoardEnv
from board_envs.registry import snake_name
from board_envs.testing import check_env, check_rules
from board_envs.testing.frameworks import KNOWN_WARNINGS, only_known_warnings, pettingzoo_tests

ONE_SEAT = [{}, {"opponent": None}, {"seat": "random", "mask_in": "observation", "flat": True}]


@every_case
def test_rules_agree_with_themselves(name, parameters):
    check_rules(board_envs.make_game(name, **parameters), games=4)


@every_case
@pytest.mark.parametrize("wrapped", [False, True])
def test_pettingzoo_api(name, parameters, wrapped):
    api_test, seed_test, render_test = pettingzoo_tests()
    module = module_of(name)
    make = module.env if wrapped else module.raw_env
    with recording() as caught:
        api_test(make(**parameters), num_cycles=30)
        seed_test(lambda: make(**parameters), num_cycles=20)
        render_test(lambda **options: make(**parameters, **options))
    only_known_warnings(caught)


@every_case
def test_pettingzoo_api_with_the_mask_in_the_info(name, parameters):
    api_test, _, _ = pettingzoo_tests()
    with recording() as caught:
        api_test(module_of(name).env(mask_in="info", **parameters), num_cycles=30)
    # The waiting first look at an empty board is all there is left to warn of.
    only_known_warnings(caught, allowed=KNOWN_WARNINGS[1:2])


@every_case
@pytest.mark.parametrize("options", ONE_SEAT, ids=["opponent", "self-play", "drawn seat"])
def test_gymnasium_checker(name, parameters, options):
    env = gymnasium.make(gymnasium_id(name), **parameters, **options)
    gymnasium_check_env(env.unwrapped)


@every_case
def test_our_checker(name, parameters):
    module = module_of(name)
    check_env(lambda: module.raw_env(**parameters), games=3)
    check_env(lambda: module.env(mask_in="info", flat=True, **parameters), games=3)
    for options in ONE_SEAT:
        check_env(lambda: BoardEnv(name, **parameters, **options), games=3)


@every_case
def test_plane_0_is_the_observers_at_every_moment(name, parameters):  # R026, R068
    env = module_of(name).raw_env(**parameters)
    env.reset(seed=3)
    game = env.game
    rng = np.random.default_rng(3)
    while True:
        state = env.game_state
        first, second = (env.observe(agent)["observation"] for agent in ("player_0", "player_1"))
        assert np.array_equal(first, game.observe(state, 0))
        assert np.array_equal(second, game.observe(state, 1))
        if len(game.observation_shape) == 3 and game.observation_shape[-1] == 2:
            exchanged = np.array_equal(second, first[..., ::-1])
            # A game without owned pieces shows both seats the same; those of ours with two planes have stones.
            unowned = name not in ("connect-four", "reversi") and np.array_equal(second, first)
            assert exchanged or unowned, "the two planes must be exchanged between the seats, or the same for both"
        assert np.array_equal(env.state(), first)
        if env.terminations["player_0"]:
            break
        env.step(int(rng.choice(game.legal_actions(state))))


@every_case
def test_observing_changes_nothing(name, parameters):  # R039
    watched, plain = (module_of(name).raw_env(illegal="random", **parameters) for _ in range(2))
    watched.reset(seed=1)
    plain.reset(seed=1)
    while not plain.terminations["player_0"]:
        before = pickle.dumps(watched.get_state())
        for agent in ("player_0", "player_1", "player_0"):
            watched.observe(agent)
        watched.last()
        _ = watched.infos
        watched.state()
        assert pickle.dumps(watched.get_state()) == before
        action = int(np.argmin(plain.infos[plain.agent_selection]["action_mask"]))  # Illegal where one is.
        watched.step(action)
        plain.step(action)
        assert plain.game.same_position(watched.game_state, plain.game_state)


@every_game
def test_lifecycle_at_the_end(name):  # R054, R059, R062, R066
    env = module_of(name).env()
    env.reset(seed=0)
    while True:
        observation, _, termination, _, _ = env.last()
        if termination:
            break
        mover = env.agent_selection
        env.step(int(np.flatnonzero(observation["action_mask"])[0]))
    waiting = "player_1" if mover == "player_0" else "player_0"
    assert env.agent_selection == waiting, "the seat that would be next is selected, whoever has won"
    assert env.agents == ["player_0", "player_1"]
    assert env.terminations == {"player_0": True, "player_1": True}
    paid = {}
    for agent in (waiting, mover):
        assert env.agent_selection == agent
        paid[agent] = env.last()[1]
        env.step(None)
    assert paid[waiting] == -paid[mover]
    assert env.agents == []
    assert list(env.agent_iter()) == []
    for agent in ("player_0", "player_1"):
        assert not env.observe(agent)["action_mask"].any()
    assert (env.infos, env.rewards, env.terminations, env.truncations) == ({}, {}, {}, {})
    env.render()
    env.close()
    with recording() as caught:
        env.step(None)
    assert len(caught) <= 1  # PettingZoo's logger may or may not pass its warning on.
    env.reset()
    assert env.agents == ["player_0", "player_1"]


@every_game
def test_attributes_exist_and_turn_order_is_its_own(name):  # R065, R072
    env = module_of(name).raw_env()
    assert env.possible_agents == ["player_0", "player_1"]
    assert env.metadata["name"] == f"{snake_name(name)}_v0"
    assert env.metadata["is_parallelizable"] is False
    env.reset()
    for attribute in ("rewards", "terminations", "truncations", "infos", "_cumulative_rewards"):
        assert list(getattr(env, attribute)) == env.agents
    env.agents.reverse()
    env.possible_agents.reverse()
    env.reset()
    assert env.agent_selection == "player_0"
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert env.agent_selection == "player_1"


@every_game
def test_spaces_are_always_the_same_objects(name):  # R033, R074
    env = module_of(name).raw_env()
    spaces = [env.action_space("player_0"), env.observation_space("player_1")]
    env.reset()
    assert spaces[0] is env.action_space("player_0")
    assert spaces[1] is env.observation_space("player_1")
    assert env.observation_space("player_0") == env.observation_space("player_1")
    mask = env.last()[0]["action_mask"]
    assert mask[spaces[0].sample(mask)] == 1


@every_game
def test_seeds_give_games_and_nothing_else_does(name):  # R073, R074
    np_state, py_state = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    games = [play_single(BoardEnv(name, seat="random"), seed) for seed in range(6)]
    assert games == [play_single(BoardEnv(name, seat="random"), seed) for seed in range(6)]
    assert any(game != games[0] for game in games)
    env = BoardEnv(name, seat="random")

    def resets():
        env.reset(seed=5)
        return [env.reset()[0].tobytes() for _ in range(10)]

    assert resets() == resets(), "unseeded resets go on with the seed's stream"
    assert np.array_equal(np.random.get_state()[1], np_state)  # noqa: NPY002
    assert random.getstate() == py_state


def test_seeds_give_the_same_games_in_another_process():  # R073
    program = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1]); import board_envs;"
        "from contract_common import play_single; from board_envs.envs.single import BoardEnv;"
        "print([hashlib.sha256(repr(play_single(BoardEnv(n, seat='random'), 7)).encode()).hexdigest()"
        " for n in board_envs.GAMES])"
    )
    folder = os.path.dirname(__file__)
    outputs = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", program, folder], capture_output=True, text=True, env=environment, check=True
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1


@every_case
def test_parameters_survive_resets(name, parameters):  # R078
    env = BoardEnv(name, **parameters)
    shape, game = env.observation_space.shape, env.game
    for arguments in ({}, {"seed": 1}, {"options": {}}, {"seed": 2, "options": None}, {}):
        observation, _ = env.reset(**arguments)
        assert observation.shape == shape
        assert env.game is game
        assert {**env.game.parameters, **parameters} == dict(env.game.parameters)


# -- copies ---------------------------------------------------------------------------------------------------------


def copies_of(env, shallow):
    made = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), cloudpickle.loads(cloudpickle.dumps(env))]
    return [*made, copy.copy(env)] if shallow else made


@every_case
@pytest.mark.parametrize("wrapped", [False, True])
def test_copies_of_a_game_play_on(name, parameters, wrapped):  # R079, R080
    module = module_of(name)
    for plies in (0, 1, 4):
        env = (module.env if wrapped else module.raw_env)(**parameters)
        env.reset(seed=plies)
        for ply in range(plies):
            legal = np.flatnonzero(env.last()[4]["action_mask"])
            if len(legal):
                env.step(int(legal[ply % len(legal)]))
        made = copies_of(env, shallow=not wrapped)
        # The copies come first: what they play must not reach the original.
        games = [play_random(each, 1, reset=False) for each in made]
        assert env.agents == ["player_0", "player_1"]
        expected = play_random(env, 1, reset=False)
        assert games == [expected] * len(made)


@every_case
def test_copies_of_an_episode_play_on(name, parameters):  # R077, R079
    for options in ({}, {"opponent": None}, {"illegal": "random", "seat": "random"}):
        env = gymnasium.make(gymnasium_id(name), **parameters, **options)
        env.reset(seed=2)
        env.unwrapped.step(int(np.flatnonzero(env.unwrapped.action_masks())[0]))
        if env.unwrapped._over:
            env.reset(seed=3)
        made = [*copies_of(env.unwrapped, shallow=True), copy.deepcopy(env).unwrapped]
        games = [play_single(each, 1, reset=False) for each in made]
        assert games == [play_single(env.unwrapped, 1, reset=False)] * len(made)


@every_case
def test_states_are_saved_and_restored(name, parameters):
    env = BoardEnv(name, seat="random", **parameters)
    env.reset(seed=8)
    saved = env.get_state()
    observation, info = env._told()
    first = play_single(env, 4, reset=False)
    restored = env.set_state(saved)
    assert np.array_equal(restored[0], observation)
    assert restored[1]["plies"] == info["plies"]
    assert play_single(env, 4, reset=False) == first
    other = BoardEnv(name, seat="random", **parameters)
    other.set_state(saved)
    assert play_single(other, 4, reset=False) == first
    raw = module_of(name).raw_env(**parameters)
    raw.reset(seed=8)
    raw.step(raw.game.legal_actions(raw.game_state)[0])
    saved = raw.get_state()
    first = play_random(raw, 4, reset=False)
    raw.set_state(saved)
    assert play_random(raw, 4, reset=False) == first


def test_a_pickle_is_usable_in_a_fresh_process(tmp_path):  # R080
    for number, make in enumerate((lambda: board_envs.awale_v0.env(pits=4), lambda: BoardEnv("awale", pits=4))):
        env = make()
        env.reset(seed=1)
        (tmp_path / f"{number}.pickle").write_bytes(pickle.dumps(env))
    (tmp_path / "function.pickle").write_bytes(pickle.dumps(board_envs.awale_v0.env))
    program = (
        "import pickle, sys, pathlib; p = pathlib.Path(sys.argv[1]);"
        "a, g = (pickle.loads((p / f'{k}.pickle').read_bytes()) for k in (0, 1));"
        "a.step(0); g.step(1); print(a.unwrapped.game, g.game, g.game.current_player(g.game_state));"
        "print(pickle.loads((p / 'function.pickle').read_bytes())(pits=3).unwrapped.game)"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, tmp_path], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("pits=4") == 2
    assert "pits=3" in run.stdout


# -- registration -----------------------------------------------------------------------------------------------------


def test_importing_is_light_and_idempotent():  # R086, R099, R102, I
    program = (
        "import sys; sys.modules['pygame'] = None\n"
        "import importlib, warnings; warnings.simplefilter('error')\n"
        "import board_envs, gymnasium, pettingzoo\n"
        "entries = getattr(pettingzoo, 'aec_registry', {})  # there is none before 1.27\n"
        "before = len(gymnasium.registry), len(entries)\n"
        "importlib.reload(board_envs); board_envs.register()\n"
        "assert before == (len(gymnasium.registry), len(entries))\n"
        "import board_envs.nim_v0 as m; assert m is board_envs.nim_v0\n"
        "env = gymnasium.make('board_envs/Nim-v0'); env.reset(); env.step(0)\n"
        "m.env().reset()\n"
        "print(sorted({'numba', 'torch', 'matplotlib', 'board_agents'} & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "[]\n"


@pytest.mark.parametrize("way", ["import board_envs", "board_envs.register()", "module:id"])
def test_the_three_ways_to_an_id(way):  # R102
    identity = "board_envs/ConnectFour-v0"
    program = {
        "import board_envs": f"import gymnasium, board_envs; gymnasium.make({identity!r})",
        "board_envs.register()": f"import gymnasium, board_envs; board_envs.register(); gymnasium.make({identity!r})",
        "module:id": f"import gymnasium; gymnasium.make('board_envs:' + {identity!r}, rows=5)",
    }[way]
    run = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@every_game
def test_ids_name_both_forms(name):  # R097, R102
    env = gymnasium.make(gymnasium_id(name))
    assert env.spec.max_episode_steps is None
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert again.unwrapped.game is env.unwrapped.game
    assert env.spec.vector_entry_point == "board_envs.envs.vector:BoardVectorEnv"
    assert callable(env.get_wrapper_attr("action_masks"))
    if hasattr(pettingzoo, "register"):  # since 1.27
        made = pettingzoo.make("aec", f"board_envs/{snake_name(name)}-v0", render_mode="ansi")
        made.reset()
        assert isinstance(made.render(), str)


def test_the_modules_of_games_are_real_and_make_their_games():
    names = sorted(path.stem for path in Path(board_envs.__file__).parent.glob("*_v0.py"))
    assert names == sorted(name for name in board_envs.__all__ if name.endswith("_v0"))
    for name in names:
        module = importlib.import_module(f"board_envs.{name}")
        assert module is getattr(board_envs, name)
        for env in (module.env(), module.raw_env()):
            assert env.metadata["name"] == name


def test_an_unknown_id_or_attribute_is_told():
    with pytest.raises(gymnasium.error.NameNotFound, match="ConnectFour"):
        gymnasium.make("board_envs/Connectfour-v0")
    with pytest.raises(AttributeError):
        _ = board_envs.chess_v0


@every_game
def test_masks_are_found_through_wrappers_silently(name):  # R043
    env = gymnasium.make(gymnasium_id(name), max_episode_steps=50)
    env = gymnasium.wrappers.RecordEpisodeStatistics(env)
    _, info = env.reset(seed=0)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    assert np.array_equal(masks, info["action_mask"] == 1)


@every_game
def test_parallel_view_plays_the_same_game(name):  # R053
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel

    aec = module_of(name).raw_env()
    base = module_of(name).env()
    base.metadata["is_parallelizable"] = True
    parallel = turn_based_aec_to_parallel(base)
    aec.reset(seed=0)
    parallel.reset(seed=0)
    rng = np.random.default_rng(0)
    while not aec.terminations["player_0"]:
        mover = aec.agent_selection
        action = int(rng.choice(np.flatnonzero(aec.last()[4]["action_mask"])))
        other = "player_1" if mover == "player_0" else "player_0"
        aec.step(action)
        boards, rewards, terminations, _, _ = parallel.step({mover: action, other: 0})
        for agent in ("player_0", "player_1"):
            assert np.array_equal(boards[agent]["observation"], aec.observe(agent)["observation"])
            assert rewards[agent] == aec.rewards[agent]
            assert terminations[agent] == aec.terminations[agent]
