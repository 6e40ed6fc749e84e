"""What Game promises for every game: closed parameters, checked seats and moves, refusals in the game's notation."""

import copy
import pickle

import pytest

from board_envs import GAMES, make_game
from board_envs.random import Stream
from board_envs.types import IllegalActionError, PositionError


@pytest.mark.parametrize("name", GAMES)
def test_a_game_cannot_be_changed_and_travels_by_name(name):
    game = make_game(name)
    with pytest.raises(TypeError):
        game.parameters["size"] = 1
    assert make_game(name) is game
    assert copy.deepcopy(game) is game
    assert pickle.loads(pickle.dumps(game)) is game


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seat", [2, -1, "player_0", True, None])
def test_there_are_two_seats(name, seat):
    game = make_game(name)
    with pytest.raises(ValueError, match="a seat is 0 or 1"):
        game.observe(game.initial_state(), seat)
    with pytest.raises(ValueError, match="a seat is 0 or 1"):
        game.decode(game.observe(game.initial_state(), 0), seat)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("action", [-1, 10_000, True, "0", None])
def test_numbers_of_no_action_have_no_name(name, action):
    game = make_game(name)
    with pytest.raises(IllegalActionError, match="is not an integer from 0 to"):
        game.action_to_text(game.initial_state(), action)


@pytest.mark.parametrize("name", GAMES)
def test_moves_are_texts(name):
    game = make_game(name)
    for move in (4, None, 1.5):
        with pytest.raises(IllegalActionError, match="a move is a text such as"):
            game.text_to_action(game.initial_state(), move)
    with pytest.raises(IllegalActionError, match=r"move 1 \(4\): a move is a text"):
        game.from_moves([4, 4])
    with pytest.raises(IllegalActionError, match="moves are one text or one text a move, not 44"):
        game.from_moves(44)


def test_refusals_name_moves_as_players_do():
    game = make_game("connect-four")
    with pytest.raises(IllegalActionError, match=r"'4' is not legal in .*; legal: 1, 2, 3, 5, 6, 7"):
        game.text_to_action(game.from_moves("444444"), "4")
    game = make_game("reversi")
    with pytest.raises(IllegalActionError, match=r"'a1' is not legal in .*; legal: d3, c4, f5, e6"):
        game.text_to_action(game.initial_state(), "a1")


def test_moves_are_read_and_written_from_any_state():
    game = make_game("connect-four")
    start = game.from_moves("4453")
    actions = game.read_moves("21", start=start)
    assert actions == [1, 0]
    assert game.write_moves(actions, start=start) == "21"
    assert game.from_moves("21", start=start) == game.from_moves("445321")
    with pytest.raises(IllegalActionError, match="move 1 "):
        make_game("nim").read_moves("1:3", start=make_game("nim").parse("1,4,5"))


def test_a_pass_may_be_an_element_of_a_list():
    # 4 x 4: after six moves the other player has no move (seen by playing at random; the rules say who is to move).
    game = make_game("reversi", size=4)
    stream = Stream.seeded(3)
    found = 0
    for _ in range(40):
        state, moves = game.initial_state(), []
        while not game.is_terminal(state):
            legal = game.legal_actions(state)
            action = legal[stream.below(len(legal))]
            moves.append(game.action_to_text(state, action))
            mover, state = game.current_player(state), game.step(state, action)
            if not game.is_terminal(state) and game.current_player(state) == mover:
                moves.append(["pass", "--", "PA"][found % 3])
                found += 1
        assert game.from_moves(moves) == state
        assert game.from_moves(" ".join(moves)) == state
    assert found > 10
    with pytest.raises(IllegalActionError, match="move 1 .*a pass is written only where"):
        game.from_moves(
            [game.action_to_text(game.initial_state(), game.legal_actions(game.initial_state())[0]), "pass"]
        )
    with pytest.raises(IllegalActionError, match=r"move 1 \('pass'\)"):
        game.from_moves(["pass"])
    for name, moves in (("connect-four", ["4", "4", ","]), ("nim", ["1:1", ""]), ("awale", ["0", " "])):
        with pytest.raises(IllegalActionError, match=f"move {len(moves)} "):
            make_game(name).from_moves(moves)


@pytest.mark.parametrize("name", GAMES)
def test_actions_become_states_and_names_in_one_way(name):
    game, stream = make_game(name), Stream.seeded(5)
    state, states, actions, names = game.initial_state(), [game.initial_state()], [], []
    while not game.is_terminal(state) and len(actions) < 12:
        legal = game.legal_actions(state)
        actions.append(legal[stream.below(len(legal))])
        names.append(game.action_to_text(state, actions[-1]))
        state = game.step(state, actions[-1])
        states.append(state)
    assert all(map(game.same_position, game.states(actions), states))
    assert game.move_names(actions, states) == names
    played, end = game.play_moves(game.write_moves(actions))
    assert played == actions
    assert game.same_position(end, state)
    rest = game.write_moves(actions[4:], states[4])
    assert game.read_moves(rest, states[4]) == actions[4:]
    assert game.same_position(game.from_moves(rest, states[4]), state)
    assert game.states([], states[4]) == [states[4]]
    with pytest.raises(IllegalActionError, match="ply 5: "):
        game.states([*actions[:4], game.num_actions])


@pytest.mark.parametrize("name", GAMES)
def test_messages_stay_short_however_long_the_text(name):
    game = make_game(name)
    for read in (game.parse, game.from_moves, lambda text: game.from_moves([text]), game.forms[-1].read):
        with pytest.raises((PositionError, IllegalActionError)) as found:
            list(read("x" * 100_000))
        assert 0 < len(str(found.value)) < 2100
