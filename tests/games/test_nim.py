"""Nim: rules against plain lists and OpenSpiel, numbering, text, refusals."""

import itertools
import random

import numpy as np
import pyspiel
import pytest

from board_envs.games.nim import make
from board_envs.types import IllegalActionError, Outcome, PositionError

HEAPS = [(3, 4, 5), (1,), (7, 7), (2, 1, 2, 1), (127, 127), (1,) * 8]


def _moves(heaps):
    """The source's order: heap by heap, counts upwards."""
    return [(heap, count) for heap, size in enumerate(heaps) for count in range(1, size + 1)]


def _named(game, state):
    return [game.notation.heap_and_count(action) for action in game.legal_actions(state)]


def test_moves_of_the_source():
    game = make((3, 4, 5))
    assert _named(game, game.initial_state()) == _moves((3, 4, 5))
    assert len(game.legal_actions(game.initial_state())) == 12
    assert game.legal_actions(game.parse("0,0,0")) == []
    assert _named(game, game.parse("1,0,2")) == [(0, 1), (2, 1), (2, 2)]


@pytest.mark.parametrize("misere", [False, True])
@pytest.mark.parametrize("heaps", HEAPS)
def test_random_games_against_lists(heaps, misere):
    game, rng = make(heaps, misere), random.Random(1)
    for _ in range(30):
        state, sizes, seat = game.initial_state(), list(heaps), 0
        while any(sizes):
            assert _named(game, state) == _moves(sizes)
            assert [game.rules.nth(state, k) for k in range(game.rules.count(state))] == game.legal_actions(state)
            assert game.winner(state) is Outcome.ONGOING
            assert game.returns(state) == (0, 0)
            assert game.current_player(state) == seat
            assert game.observe(state, seat).tolist() == sizes
            assert game.decode(game.observe(state, seat), seat) == state
            assert game.parse(game.format(state)) == state
            heap, count = rng.choice(_moves(sizes))
            action = game.notation.action_of(heap, count)
            assert action == sum(heaps[:heap]) + count - 1
            after = game.step(state, action)
            assert game.rules.count(after) < game.rules.count(state)
            state, seat = after, 1 - seat
            sizes[heap] -= count
        last = 1 - seat
        winner = 1 - last if misere else last
        assert game.is_terminal(state)
        assert game.winner(state) == winner
        assert game.returns(state)[winner] == 1
        assert sum(game.returns(state)) == 0
        assert game.margin(state) == game.returns(state)[0]


@pytest.mark.parametrize("misere", [False, True])
def test_random_games_against_openspiel(misere):
    game, rng = make((3, 4, 5), misere), random.Random(2)
    other = pyspiel.load_game("nim", {"pile_sizes": "3;4;5", "is_misere": misere})
    for _ in range(300):
        state, theirs = game.initial_state(), other.new_initial_state()
        while not theirs.is_terminal():
            # OpenSpiel numbers (take - 1) * piles + pile.
            mine = sorted((count - 1) * 3 + heap for heap, count in _named(game, state))
            assert mine == theirs.legal_actions()
            assert game.current_player(state) == theirs.current_player()
            action = rng.choice(mine)
            theirs.apply_action(action)
            state = game.step(state, game.notation.action_of(action % 3, action // 3 + 1))
        assert game.is_terminal(state)
        assert list(game.returns(state)) == theirs.returns()


def test_leaf_counts_against_lists():
    game = make((2, 3))

    def ours(state):
        return 1 + sum(ours(game.step(state, action)) for action in game.legal_actions(state))

    def plain(sizes):
        return 1 + sum(plain([s - c * (h == i) for i, s in enumerate(sizes)]) for h, c in _moves(sizes))

    assert ours(game.initial_state()) == plain([2, 3])


def test_text_of_moves():
    game = make((3, 4, 5))
    assert game.format(game.from_moves("1:2 3:5")) == "1,4,0 0"
    assert game.write_moves(game.read_moves("1:2 3:5")) == "1:2 3:5"
    assert [game.action_to_text(game.initial_state(), a) for a in (0, 2, 3, 11)] == ["1:1", "1:3", "2:1", "3:5"]


@pytest.mark.parametrize(
    "move", ["0:1", "4:1", "1:0", "1:4", "1:-1", "-1:1", "", "1", "1:", "a:b", "1:1:1", "１:１", "²:1", "1;1"]
)
def test_moves_that_do_not_exist_are_refused(move):
    game = make((3, 4, 5))
    with pytest.raises(IllegalActionError):
        game.text_to_action(game.initial_state(), move)


def test_taking_more_than_there_is_is_refused_and_named():
    game = make((3, 4, 5))
    with pytest.raises(IllegalActionError, match="move 2 .*not legal"):
        game.from_moves("1:2 1:2")
    with pytest.raises(IllegalActionError, match="the game is over"):
        make((1,)).from_moves("1:1 1:1")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1,2", "2 heaps"),
        ("1,2,3,4", "4 heaps"),
        ("4,0,0", "heap 1 has 4"),
        ("-1,0,0", "whole numbers"),
        ("a,b,c", "whole numbers"),
        ("", "whole numbers"),
        ("1,2,3 2", "seat to move"),
        ("1,２,3", "whole numbers"),
    ],
)
def test_positions_that_cannot_be_are_refused(text, why):
    with pytest.raises(PositionError, match=why):
        make((3, 4, 5)).parse(text)


@pytest.mark.parametrize("heaps", [(), (0,), (1, -1), (128,), (1,) * 9, "345", 5, (1.5,), (True,), [[1]], None])
def test_sizes_that_are_not_offered_are_refused(heaps):
    with pytest.raises(ValueError, match="nim: "):
        make(heaps)


def test_symmetries_swap_heaps_that_began_equal():
    game = make((2, 1, 2))
    assert len(game.symmetries()) == 2
    assert len(make((1, 1, 1)).symmetries()) == 6
    for symmetry, sizes in itertools.product(game.symmetries(), itertools.product(range(3), range(2), range(3))):
        state = game.parse(",".join(map(str, sizes)))
        image = game.decode(symmetry.observation(game.observe(state, 0)), 0)
        assert (game.legal_mask(image) == symmetry.policy(game.legal_mask(state))).all()
        for action in game.legal_actions(state):
            after = game.step(state, action)
            mapped = game.step(image, symmetry.action(action))
            assert (game.observe(mapped, 1) == symmetry.observation(game.observe(after, 1))).all()


def test_the_same_game_is_the_same_object():
    assert make([3, 4, 5]) is make((3, 4, 5))
    assert make(np.array([3, 4, 5])) is make((3, 4, 5))


@pytest.mark.parametrize("action", [-1, 12, 99])
def test_a_number_that_is_no_action_has_no_name(action):
    game = make((3, 4, 5))
    with pytest.raises(IllegalActionError, match=f"no action {action}; actions are 0 to 11"):
        game.notation.heap_and_count(action)


@pytest.mark.parametrize(
    ("move", "message"),
    [("1:3", "from heap 1 one takes 1 to 2 objects"), ("1:9", "1 to 2 objects"), ("2:1", "nothing, it is empty"),
     ("3:2", "one takes 1 object$"), ("4:1", "heaps are 1 to 3")],
)  # fmt: skip
def test_errors_name_what_a_heap_holds_now(move, message):
    game = make((3, 4, 5))
    with pytest.raises(IllegalActionError, match=message):
        game.text_to_action(game.parse("2,0,1"), move)
