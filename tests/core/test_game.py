"""What Game promises for every game: closed parameters, checked seats and moves, refusals in the game's notation."""

import copy
import pickle

import pytest

from board_envs import GAMES, make_game
from board_envs.types import IllegalActionError


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
