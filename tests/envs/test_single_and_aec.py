"""Options of the environments: illegal moves, starts, seats, opponents, oracles, forms of observation, rendering."""

import itertools

import gymnasium
import numpy as np
import pytest

import board_envs
from board_agents import make_agent, make_oracle
from board_envs.envs.aec import BoardAECEnv
from board_envs.envs.common import Unknown
from board_envs.envs.opponents import RandomOpponent
from board_envs.envs.single import BoardEnv
from board_envs.types import IllegalActionError, PositionError, SpecError

FULL_COLUMN = "444444"  # The source's column 4: action 3 is illegal after these.


def connect_four(**options):
    env = BoardEnv("connect-four", opponent=None, **options)
    env.reset(seed=0, options={"moves": FULL_COLUMN})
    return env


def raw(**options):
    env = BoardAECEnv("connect-four", **options)
    env.reset(seed=0, options={"moves": FULL_COLUMN})
    return env


# -- illegal moves ----------------------------------------------------------------------------------------------------


def test_illegal_raise_changes_nothing():
    env = connect_four(illegal="raise")
    before = env.game_state
    with pytest.raises(IllegalActionError, match="action 3 is not legal"):
        env.step(3)
    assert env.game_state == before
    assert env.step(2)[4]["illegal"] == 0
    env = raw()
    with pytest.raises(IllegalActionError, match="action 3 is not legal"):
        env.step(3)
    assert env.agent_selection == "player_0"
    assert not any(env.terminations.values())


def test_illegal_lose():
    env = connect_four()
    before = env.game_state
    _, reward, terminated, truncated, info = env.step(3)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (info["illegal"], info["winner"], info["plies"]) == (1, 1, 0)
    assert info["action_mask"].all()
    assert env.game_state == before
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env = raw(illegal="lose")
    env.step(3)
    assert env.rewards == {"player_0": -1.0, "player_1": 0.0}
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    assert [env.observe(agent)["action_mask"].any() for agent in env.agents] == [False, False]
    assert [info["illegal"] for info in env.infos.values()] == [1, 1]


def test_illegal_through_pettingzoos_wrapper():
    env = board_envs.connect_four_v0.env()
    env.reset(options={"moves": FULL_COLUMN})
    env.step(3)
    assert env.rewards == {"player_0": -1.0, "player_1": 0}
    assert all(env.terminations.values())
    assert all(env.truncations.values())
    assert [(info["illegal"], info["action_mask"].any()) for info in env.infos.values()] == [(1, False)] * 2
    assert not env.observe(env.agent_selection)["action_mask"].any()
    assert env.last()[1] == -1
    env.step(None)
    env.step(None)
    assert env.agents == []


def test_illegal_random_plays_a_legal_move_of_the_seeds_stream():
    played = set()
    for seed in range(8):
        env = connect_four(illegal="random")
        env.reset(seed=seed, options={"moves": FULL_COLUMN})
        _, _, terminated, _, info = env.step(3)
        assert (terminated, info["illegal"], info["plies"], info["to_play"]) == (False, 1, 1, 1)
        first = env.game.format(env.game_state)
        env.reset(seed=seed, options={"moves": FULL_COLUMN})
        env.step(3)
        assert env.game.format(env.game_state) == first
        played.add(first)
        assert env.step(0)[4]["illegal"] == 0
    assert len(played) > 1
    env = raw(illegal="random")
    env.step(3)
    assert (env.agent_selection, env.infos["player_1"]["illegal"]) == ("player_1", 1)


@pytest.mark.parametrize("make", [connect_four, raw], ids=["gymnasium", "aec"])
def test_illegal_ignore_costs_and_ends_at_the_cap(make):  # R025, R067, R070
    env = make(illegal="ignore", illegal_penalty=0.25, illegal_cap=3)
    before = env.game_state
    for number in range(1, 4):
        result = env.step(3)
        if make is raw:
            reward, info = env.rewards["player_0"], env.infos["player_0"]
            ended = (env.terminations["player_0"], env.truncations["player_0"])
            assert env.rewards["player_1"] == 0.0
            assert env.last()[1] == -0.25
            assert env.agent_selection == "player_0"
        else:
            _, reward, *ended, info = result
        assert (reward, info["illegal"], info["winner"], tuple(ended)) == (-0.25, 1, -1, (False, number == 3))
        assert env.game_state == before


@pytest.mark.parametrize("illegal", ["lose", "random", "ignore"])
@pytest.mark.parametrize("name", list(board_envs.GAMES))
def test_illegal_moves_for_ever_end_within_a_bound(name, illegal):  # R025
    env = BoardEnv(name, illegal=illegal, illegal_cap=20)
    _, info = env.reset(seed=0)
    terminated = truncated = False
    for _ in range(400):
        _, _, terminated, truncated, info = env.step(int(np.argmin(info["action_mask"])))
        if terminated or truncated:
            break
    assert terminated or truncated


@pytest.mark.parametrize("action", [7, -1, 2.0, "3", None, True, np.zeros(1, np.int64)])
@pytest.mark.parametrize("illegal", ["raise", "lose", "random", "ignore"])
def test_what_is_no_action_is_always_refused(action, illegal):
    for env in (connect_four(illegal=illegal), raw(illegal=illegal)):
        before = env.game_state
        with pytest.raises(IllegalActionError, match="is not an integer from 0 to 6"):
            env.step(action)
        assert env.game_state == before


def test_numpy_integers_are_actions():
    for action in (np.int64(2), np.int8(2), np.array(2)):
        assert connect_four().step(action)[4]["plies"] == 1


# -- starts -----------------------------------------------------------------------------------------------------------

STARTS = [
    ("connect-four", {"moves": "4453"}),
    ("connect-four", {"position": "-------/-------/-------/-------/---O---/--XOX-- 0"}),
    ("reversi", {"moves": "d3c3c4"}),
    ("awale", {"position": "1,1,1,0,0,1;40,5"}),
    ("nim", {"position": "1,0,4 1"}),
    ("nim", {"moves": ["1:2", "3:1"]}),
]


@pytest.mark.parametrize(("name", "options"), STARTS)
def test_starts(name, options):
    game = board_envs.make_game(name)
    if name == "awale":
        options = {"position": game.format(game.from_moves("0 1 2"))}
    expected = game.parse(options["position"]) if "position" in options else game.from_moves(options["moves"])
    for given in (options, {"state": expected}):
        for env in (BoardAECEnv(name), BoardEnv(name, opponent=None)):
            env.reset(options=given)
            assert game.same_position(env.game_state, expected)
        assert env.action_masks().tolist() == game.legal_mask(expected).astype(bool).tolist()


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("connect-four", {"position": "-------/-------/-------/---X---/-------/------- 1"}, PositionError, "X|float"),
        ("connect-four", {"moves": "1212121"}, PositionError, "the game is over"),
        ("connect-four", {"moves": "12121212"}, IllegalActionError, "move 8"),
        ("connect-four", {"position": 3}, PositionError, "text"),
        ("connect-four", {"state": "4453"}, PositionError, "State"),
        ("connect-four", {"position": "x", "moves": "1"}, ValueError, "exclude"),
        ("connect-four", {"positon": "x"}, ValueError, "positon.*known options: position, moves, state"),
        ("nim", {"position": "0,0,0"}, PositionError, "over"),
        ("nim", {"position": "9,0,0"}, PositionError, "9"),
        ("awale", {"position": "9,9,9,9,9,9,9,9,9,9,9,9"}, PositionError, "seed"),
        ("reversi", {"position": "X"}, PositionError, "X"),
    ],
)
def test_impossible_starts_are_refused_and_change_nothing(name, options, error, message):
    for env in (BoardAECEnv(name), BoardEnv(name)):
        env.reset(seed=1)
        env.step(env.game.legal_actions(env.game_state)[0])
        before = repr(env.get_state())
        with pytest.raises(error, match=message):
            env.reset(seed=2, options=options)
        assert repr(env.get_state()) == before


@pytest.mark.parametrize("seed", [-1, 1 << 63, 1.5, True, "7"])
def test_seeds_out_of_range_are_refused(seed):
    for env in (BoardAECEnv("nim"), BoardEnv("nim")):
        with pytest.raises(ValueError, match="seed must be an integer from 0"):
            env.reset(seed=seed)


def test_a_start_given_as_state_is_not_shared():
    game = board_envs.make_game("awale")
    state = game.from_moves("0 1 2")
    env = BoardEnv(game, opponent=None)
    env.reset(options={"state": state})
    memory = state.history.copy()
    for _ in range(5):
        env.step(game.legal_actions(env.game_state)[0])
    assert np.array_equal(state.history, memory)


# -- seats and opponents ----------------------------------------------------------------------------------------------


def first_legal(observation):
    return int(np.flatnonzero(observation["action_mask"])[0])


def test_the_reward_is_the_learners():  # R061
    env = BoardEnv("connect-four", opponent=lambda seen: 6 if seen["action_mask"][6] else first_legal(seen))
    env.reset()
    results = [env.step(0) for _ in range(4)]
    assert [(r[1], r[2]) for r in results] == [(0.0, False)] * 3 + [(1.0, True)]
    assert results[-1][4]["winner"] == 0
    env.reset()
    results = [env.step(action) for action in (0, 1, 0, 1)]
    assert (results[-1][1], results[-1][2], results[-1][4]["winner"]) == (-1.0, True, 1)
    assert results[-1][4]["last_mover"] == 1
    self_play = BoardEnv("connect-four", opponent=None)
    self_play.reset()
    rewards = [self_play.step(action)[1] for action in (0, 1, 0, 1, 0, 1, 0)]
    assert rewards == [0.0] * 6 + [1.0]


def test_seat_1_sees_the_opponents_first_move():
    env = BoardEnv("connect-four", opponent=lambda seen: 3, seat=1)
    observation, info = env.reset()
    assert observation[5, 3].tolist() == [0, 1]
    assert (info["to_play"], info["last_mover"], info["plies"]) == (1, 0, 1)


def test_a_drawn_seat_takes_both_values():
    env = BoardEnv("nim", seat="random")
    env.reset(seed=0)
    assert {env.reset()[1]["to_play"] for _ in range(20)} == {0, 1}


def test_a_game_over_before_the_learners_first_decision():
    env = BoardEnv("nim", heaps=(1,), seat=1)
    _, info = env.reset(seed=0)
    assert info["winner"] == 0
    assert info["action_mask"].all()
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated, info["plies"], info["illegal"]) == (-1.0, True, False, 1, 0)


def test_skipped_seats_are_played_through():  # R007, R008
    """In Reversi 4 x 4 blocked seats are common: the learner acts exactly when it is to move, and the end comes."""
    moves_in_a_row = 0
    for seed in range(60):
        env = BoardEnv("reversi", size=4, seat=seed % 2)
        rng = np.random.default_rng(seed)
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            assert info["to_play"] == env.seat
            _, _, over, _, after = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            moves_in_a_row += not over and after["plies"] != info["plies"] + 2
            info = after
        assert env.game.is_terminal(env.game_state)
    assert moves_in_a_row > 0


def test_the_random_opponent_is_the_agent_of_that_name():
    for name, seed in itertools.product(board_envs.GAMES, range(3)):
        game = board_envs.make_game(name)
        agent, opponent = make_agent("random", game), RandomOpponent(game)
        agent.reset(seed=seed)
        opponent.reset(seed)
        state = game.initial_state()
        while not game.is_terminal(state):
            board = game.observe(state, game.current_player(state))
            seen = {"observation": board, "action_mask": game.legal_mask(state)}
            action = opponent.choose(state)
            assert agent.act(seen) == action
            state = game.step(state, action)


def test_opponents_by_spec_object_and_callable_agree():
    def answers(opponent):
        env = BoardEnv("nim", opponent=opponent)
        env.reset(seed=4)
        return [tuple(env.step(action)[0].tolist()) for action in (0, 3)]

    game = board_envs.make_game("nim")
    assert answers("nim-xor") == answers(make_agent("nim-xor", game)) == answers(make_agent("nim-xor", game).act)


def test_opponents_get_seed_observation_and_state():
    class Spy:
        def __init__(self):
            self.seeds, self.states, self.seen = [], [], []

        def reset(self, seed=None):
            self.seeds.append(seed)

        def act(self, observation, state=None):
            self.seen.append(observation)
            self.states.append(state)
            return first_legal(observation)

    spy = Spy()
    env = BoardEnv("connect-four", opponent=spy)
    for _ in range(2):
        env.reset(seed=9)
    assert spy.seeds[0] == spy.seeds[1]
    env.reset()
    assert spy.seeds[2] != spy.seeds[1]
    env.step(3)
    assert spy.seen[0]["observation"][5, 3].tolist() == [0, 1]
    assert spy.states[0] == env.game.from_moves("4")
    saved = env.get_state()
    env.step(3)
    env.set_state(saved)
    assert len(env._opponent._agent.states) == 1


def test_bad_opponents_are_told():
    env = BoardEnv("connect-four", opponent=lambda seen: 9)
    env.reset()
    with pytest.raises(IllegalActionError, match="the opponent .* played: action 9"):
        env.step(0)
    with pytest.raises(TypeError, match="opponent must be"):
        BoardEnv("nim", opponent=3)
    with pytest.raises(SpecError):
        BoardEnv("nim", opponent="no-such-agent")
    with pytest.raises(ValueError, match="self-play"):
        BoardEnv("nim", opponent=None, seat=1)


# -- oracles ----------------------------------------------------------------------------------------------------------


def test_infos_without_an_oracle_hold_nan():
    env = BoardEnv("nim")
    for info in (env.reset(seed=0)[1], env.step(0)[4]):
        assert info["action_values"].dtype == np.float32
        assert np.isnan(info["action_values"]).all()
        assert np.isnan(info["regret"])
        assert np.array_equal(np.asarray(info["action_values"]), np.full(12, np.nan), equal_nan=True)


def test_oracle_values_are_of_the_position_before_the_move():
    env = BoardEnv("nim", opponent=None, oracle=make_oracle(board_envs.make_game("nim")))
    env.reset(options={"position": "1,0,2"})
    *_, info = env.step(env.game.text_to_action(env.game_state, "3:1"))  # 1,0,1 wins for who has moved.
    values = dict(enumerate(info["action_values"].tolist()))
    assert {a: v for a, v in values.items() if v == v} == {0: -1.0, 7: 1.0, 8: -1.0}
    assert info["regret"] == 0.0
    *_, info = env.step(0)  # From 1,0,1 everything loses, so nothing is given away.
    assert info["regret"] == 0.0
    env.reset(options={"position": "1,0,2"})
    assert env.step(8)[4]["regret"] == 2.0
    assert np.isnan(env.reset()[1]["regret"])


def test_the_learners_regret_is_told_though_the_opponent_moved_last():
    game = board_envs.make_game("nim")
    env = BoardEnv(game, opponent="nim-xor", oracle=make_oracle(game))
    env.reset(seed=0, options={"position": "1,0,2"})
    *_, info = env.step(0)
    assert (info["last_mover"], info["regret"]) == (1, 2.0)
    assert info["action_values"][0] == -1.0
    aec = BoardAECEnv(game, oracle=make_oracle(game))
    aec.reset(options={"position": "1,0,2"})
    aec.step(0)
    assert [i["regret"] for i in aec.infos.values()] == [2.0, 2.0]


def test_an_oracle_that_does_not_know():
    class Silent:
        def action_values(self, state):
            return None

    env = BoardEnv("nim", oracle=Silent())
    env.reset(seed=0)
    *_, info = env.step(0)
    assert np.isnan(info["regret"])
    assert np.isnan(info["action_values"]).all()
    with pytest.raises(TypeError, match="action_values"):
        BoardEnv("nim", oracle=3)


def test_unknown_numbers_compare_equal_and_behave_like_nan():
    assert Unknown("nan") == Unknown("nan")
    assert Unknown("nan") != 1.0
    assert np.isnan(Unknown("nan") + 1)


# -- forms ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(board_envs.GAMES))
def test_flat_and_mask_forms(name):
    game = board_envs.make_game(name)
    size = int(np.prod(game.observation_shape))
    plain, flat = BoardEnv(name, opponent=None), BoardEnv(name, opponent=None, flat=True, mask_in="observation")
    board, info = plain.reset()
    seen, _ = flat.reset()
    assert (seen["observation"].dtype, seen["observation"].shape) == (np.float32, (size,))
    assert np.array_equal(seen["observation"], board.ravel())
    assert np.array_equal(seen["action_mask"], info["action_mask"])
    assert not np.shares_memory(seen["action_mask"], flat._told()[1]["action_mask"])
    aec = BoardAECEnv(name, flat=True, mask_in="info")
    aec.reset()
    assert np.array_equal(aec.last()[0], board.ravel())
    assert np.array_equal(aec.last()[4]["action_mask"], info["action_mask"])


def test_rendering_is_text(capsys):
    game = board_envs.make_game("connect-four")
    env = BoardEnv(game, opponent=None, render_mode="ansi")
    env.reset(options={"moves": "44"})
    assert env.render() == game.draw(game.from_moves("44"))
    assert BoardEnv(game).render() is None
    human = BoardAECEnv(game, render_mode="human")
    human.reset()
    human.step(3)
    assert capsys.readouterr().out.count("X") >= 1
    with pytest.raises(ValueError, match="render_mode must be one of None, 'ansi', 'human'"):
        BoardEnv(game, render_mode="rgb")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"illegal": "loose"}, ValueError, "illegal must be one of 'raise', 'lose', 'random', 'ignore'"),
        ({"illegal_penalty": -1}, ValueError, "illegal_penalty"),
        ({"illegal_penalty": "a"}, ValueError, "illegal_penalty"),
        ({"illegal_cap": 0}, ValueError, "illegal_cap"),
        ({"mask_in": "obs"}, ValueError, "mask_in"),
        ({"rows": 99}, ValueError, "rows"),
        ({"row": 6}, TypeError, "row"),
    ],
)
def test_bad_options_are_refused(options, error, message):
    for make in (BoardAECEnv, BoardEnv):
        with pytest.raises(error, match=message):
            make("connect-four", **options)


def test_stepping_needs_a_reset():
    with pytest.raises(gymnasium.error.ResetNeeded):
        BoardEnv("nim").step(0)


def test_saved_states_of_another_kind_are_refused():
    env = BoardEnv("nim", opponent=None)
    env.reset()
    with pytest.raises(ValueError, match="another kind of opponent"):
        BoardEnv("nim").set_state(env.get_state())
    with pytest.raises(ValueError, match="get_state"):
        BoardAECEnv("nim").set_state({"board": 3})
    small = BoardAECEnv("connect-four", rows=4, columns=5)
    small.reset()
    with pytest.raises(ValueError, match="this environment plays make_game\\('connect-four', rows=6"):
        BoardAECEnv("connect-four").set_state(small.get_state())


@pytest.mark.parametrize("options", [5, "moves", ["moves"]])
def test_reset_options_are_a_mapping(options):
    for make in (BoardAECEnv, BoardEnv):
        with pytest.raises(ValueError, match="reset options are a mapping"):
            make("nim").reset(options=options)
