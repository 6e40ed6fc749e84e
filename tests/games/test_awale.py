"""Awalé: rules against plain lists and OpenSpiel, every rule and its trap, memory, text, refusals."""

import copy
import pickle
import random

import numpy as np
import pyspiel
import pytest
from awale_lists import Naive

import board_envs
from board_envs import make_game
from board_envs._bits import add
from board_envs.games.awale import PITS_LIMIT, RULESETS, SEEDS_LIMIT, make, memory, own
from board_envs.games.awale.rules import make_moves, mark0, mark1, pits_of, row_of, trace
from board_envs.types import IllegalActionError, Outcome, PositionError

SIZES = [(6, 4), (4, 3), (3, 3), (2, 1), (1, 2), (1, 63), (2, 30), (8, 7), (5, 1), (4, 15), (7, 2)]


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize(("pits", "seeds"), SIZES)
def test_random_games_against_lists(pits, seeds, ruleset):
    game, rng = make(pits, seeds, ruleset), random.Random(3)
    for number in range(max(5, 800 // (pits * seeds) // pits)):
        state, naive = game.initial_state(), Naive(pits, seeds, ruleset)
        while True:
            legal = naive.legal()
            assert game.legal_actions(state) == legal
            assert [game.rules.nth(state, k) for k in range(game.rules.count(state))] == legal
            assert game.format(state) == naive.text()
            assert sum(naive.board) + sum(naive.stores) == 2 * pits * seeds
            assert game.same_position(game.parse(naive.text()), state)
            assert game.margin(state) == naive.stores[0] - naive.stores[1]
            assert game.is_terminal(state) == naive.over
            if naive.over:
                break
            for seat in (0, 1):
                seen = game.observe(state, seat)
                assert seen[:, 0].tolist() == [naive.board[i] for i in naive.side(seat)]
                assert seen[:, 1].tolist() == [naive.board[i] for i in naive.side(1 - seat)]
                assert set(seen[:, 2]) == {naive.stores[seat]}
                assert set(seen[:, 3]) == {naive.stores[1 - seat]}
                assert seen.max() <= game.observation_high
                assert seat == naive.seat or not seen[:, 4].any()
            if number < 6:
                mats = [int(pit in legal and naive.completes(pit)) for pit in range(pits)]
                assert game.observe(state, naive.seat)[:, 4].tolist() == mats
            assert game.same_position(game.decode(game.observe(state, naive.seat), naive.seat), state)
            pit = rng.choice(legal)
            # A player who likes to repeat makes long memories; one who likes to take, short ones.
            if number % 3 == 0 and len(naive.past) < 60:
                pit = min(legal, key=lambda pit: (naive.after(pit)[1], rng.random()))
            state = game.step(state, pit)
            naive.play(pit)
        margin = naive.stores[0] - naive.stores[1]
        sign = (margin > 0) - (margin < 0)
        assert game.returns(state) == (sign, -sign)
        assert game.winner(state) == {1: Outcome.PLAYER_0, -1: Outcome.PLAYER_1, 0: Outcome.DRAW}[sign]
        assert not game.legal_mask(state).any()


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("pits", [1, 2, 3, 6, 8])
def test_playable_pits_against_lists(pits, ruleset):
    # Few seeds opposite and any number here: harvests of all, hunger and laps are frequent.
    rng, moves = random.Random(pits), make_moves(pits, ruleset)
    starved = 0
    for _ in range(3000):
        naive = Naive(pits, 1, ruleset)
        naive.over = False
        mine = [rng.choice((0, 0, 1, 2, 3, rng.randrange(pits + 3), rng.randrange(3 * pits))) for _ in range(pits)]
        other = [rng.choice((0, 1, 2, rng.randrange(5))) * (place < rng.randrange(pits + 2)) for place in range(pits)]
        if not rng.randrange(20):
            other = [0] * pits
        if sum(mine) + sum(other) > SEEDS_LIMIT:
            continue
        naive.board = mine + other
        word = int(moves.playable(row_of(mine), row_of(other)))
        legal = naive.legal()
        assert [pit for pit in range(8) if word >> pit & 1] == legal, naive.board
        starved += len(legal) < sum(seeds > 0 for seeds in mine)
        for pit in legal:
            board, gain = naive.after(pit)
            after = moves.play(row_of(mine), row_of(other), pit)
            assert (*pits_of(after[0], pits), *pits_of(after[1], pits), after[2]) == (*board, gain)
    assert starved > 20 or (pits, ruleset) == (1, "abapa")  # its only pit always reaches the other


@pytest.mark.parametrize("ruleset", RULESETS)
def test_marks_name_every_entry_of_the_memory(ruleset):
    game, rng = make(3, 3, ruleset), random.Random(5)
    entries = 0
    for _ in range(60):
        state = game.initial_state()
        while not game.is_terminal(state):
            for first, second in memory(state):
                hashed = trace(first, second)
                assert state.marks0 & mark0(hashed)
                assert state.marks1 & mark1(hashed)
                entries += 1
            if state.start == state.length:
                assert state.marks0 == state.marks1 == 0
            state = game.step(state, rng.choice(game.legal_actions(state)))
    assert entries > 1000


def test_a_sowing_adds_a_number_to_the_trace():
    rng = random.Random(6)
    for pits in (1, 4, 8):
        moves = make_moves(pits, "tamale")
        for _ in range(300):
            mine, other = ([rng.randrange(60 // pits) for _ in range(pits)] for _ in range(2))
            pit = rng.randrange(pits)
            mine[pit] += 1
            sown = moves.sow(row_of(mine), row_of(other), pit)
            expected = add(trace(row_of(other), row_of(mine)), moves.table[pit, mine[pit], 3])
            assert trace(sown[1], sown[0]) == expected


@pytest.mark.parametrize("ruleset", RULESETS)
def test_long_memories_are_exact(ruleset):
    # Both sides shun harvests and repetitions for 200 plies, then play anything, mostly into a repetition.
    game, rng, longest = make(4, 1, ruleset), random.Random(5), 0
    for _ in range(20):
        state, naive = game.initial_state(), Naive(4, 1, ruleset)
        for ply in range(1000):
            legal = naive.legal()
            assert game.legal_actions(state) == legal
            if not legal:
                break
            calm = [pit for pit in legal if not naive.after(pit)[1] and not naive.completes(pit)]
            pit = rng.choice(calm if calm and ply < 200 else legal)
            state = game.step(state, pit)
            naive.play(pit)
            assert game.format(state) == naive.text()
            longest = max(longest, state.length - state.start)
    assert longest > 40


@pytest.mark.parametrize(("pits", "seeds"), [(6, 4), (4, 3), (3, 3), (5, 2), (8, 3), (2, 5)])
def test_abapa_is_oware(pits, seeds):
    rival = pyspiel.load_game("oware", {"num_houses_per_player": pits, "num_seeds_per_house": seeds})
    game, rng = make(pits, seeds, "abapa"), random.Random(7)
    for _ in range(150):
        state, other = game.initial_state(), rival.new_initial_state()
        while not other.is_terminal():
            assert game.current_player(state) == other.current_player()
            assert game.legal_actions(state) == other.legal_actions()
            pit = rng.choice(other.legal_actions())
            state = game.step(state, pit)
            other.apply_action(pit)
        assert game.is_terminal(state)
        assert list(game.returns(state)) == other.returns()


def _leaves(game, state, depth):
    if depth == 1:
        return game.rules.count(state)
    return sum(_leaves(game, game.step(state, action), depth - 1) for action in game.legal_actions(state))


@pytest.mark.parametrize(
    ("pits", "seeds", "leaves"),
    [(6, 4, [6, 36, 190, 1014, 5219, 27332]), (3, 3, [3, 9, 26, 68, 184, 440, 1064])],
)
def test_abapa_leaf_counts(pits, seeds, leaves):
    # Source: OpenSpiel 2.0.2; the endings are not seen by these.
    game = make(pits, seeds, "abapa")
    assert [_leaves(game, game.initial_state(), depth) for depth in range(1, len(leaves) + 1)] == leaves


# -- one test a rule --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_origin_is_skipped_on_every_lap(ruleset):
    state = make(2, 4, ruleset).parse("7,0,1,0;4,4")
    # Two laps and one seed: 3, 2, 2 in the other pits; nothing in pit 0.
    after = make(2, 4, ruleset).step(state, 0)
    assert (int(after.row0), int(after.row1)) == (3 << 8, 3 | 2 << 8)


def test_a_whole_lap_from_the_first_pit_harvests():
    game = make(2, 3)
    # 1, 1, 1 sown from pit 0: the last falls in the other's pit 1, which then holds 2, and its neighbour 5.
    assert game.format(game.step(game.parse("3,0,4,1;2,2"), 0)) == "5,0,0,1;2,4 1"


def test_harvest_runs_backwards_and_stops():
    # Example 3 of the source.
    game = make(4, 3)
    state = game.parse("0,12,4,1,0,1,1,1;2,2")
    assert game.format(game.step(state, 2)) == "1,0,0,1,0,12,0,2;2,6 1"
    assert game.format(game.step(state, 3)) == "1,1,1,1,0,12,4,0;2,2 1"
    assert game.format(game.step(state, 1)) == "0,0,0,2,1,0,6,3;2,10 1"


def test_a_harvest_of_all_is_not_playable_in_tamale_and_takes_nothing_in_abapa():
    text = "0,1,1,0;3,3"
    assert make(2, 2).legal_actions(make(2, 2).parse(text)) == []
    game = make(2, 2, "abapa")
    assert game.legal_actions(game.parse(text)) == [1]
    assert game.format(game.step(game.parse(text), 1)) == "2,0,0,0;3,3 1"


@pytest.mark.parametrize("ruleset", RULESETS)
def test_feeding_is_compulsory(ruleset):
    # Example 4 of the source: only pit 2 feeds; in the other one pit 2 would take the opponent's last seeds.
    game = make(4, 3, ruleset)
    assert game.legal_actions(game.parse("1,2,2,0,0,0,0,0;10,9")) == [2]
    assert game.legal_actions(game.parse("1,2,2,0,2,0,0,0;9,8")) == [0, 1] + [2] * (ruleset == "abapa")


def test_a_mover_without_a_pit_leaves_all_in_tamale():
    game = make(4, 3)
    assert game.format(game.parse("2,1,0,0,0,0,0,0;10,11")) == "0,0,0,0,0,0,0,0;10,14 0"
    assert game.format(game.parse("0,0,0,0,1,2,0,0;11,10 1")) == "0,0,0,0,0,0,0,0;11,13 1"
    # Sowing that starves the next mover ends the game in the same step; here the sower takes all.
    state = game.parse("0,0,0,2,1,0,0,0;10,11")
    assert game.legal_actions(state) == [3]


def test_a_mover_without_a_pit_keeps_the_own_row_in_abapa():
    game = make(4, 3, "abapa")
    state = game.parse("2,1,0,0,0,0,0,0;10,11")
    assert game.format(state) == "0,0,0,0,0,0,0,0;13,11 0"
    assert game.returns(state) == (1, -1)


def test_more_than_half_ends_abapa_at_once_but_not_tamale():
    text = "0,0,0,1,0,0,1,0;12,10"
    tamale, abapa = make(4, 3), make(4, 3, "abapa")
    assert not tamale.is_terminal(tamale.parse(text))
    assert not abapa.is_terminal(abapa.parse(text))
    text = "0,0,0,1,0,0,1,0;13,9"
    assert not tamale.is_terminal(tamale.parse(text))
    assert abapa.format(abapa.parse(text)) == "0,0,0,0,0,0,0,0;14,10 0"


def test_mat_of_the_source():
    # Example 5: pits 1, 3, 0, 2 of the board, which are 1, 1, 0, 0 of their owners.
    game = make(2, 3)
    state = game.parse("0,1,0,1;5,5")
    for pit in (1, 1, 0):
        state = game.step(state, pit)
        assert not game.is_terminal(state)
    assert game.observe(state, 1)[:, 4].tolist() == [1, 0]
    state = game.step(state, 0)
    assert game.format(state) == "0,0,0,0;6,6 0"
    assert game.winner(state) is Outcome.DRAW
    assert game.returns(state) == (0, 0)


def test_the_repeat_is_seen_from_the_mover_in_tamale_and_needs_the_same_mover_in_abapa():
    # One ply makes the other see what the mover saw.
    tamale, abapa = make(1, 2), make(1, 2, "abapa")
    assert tamale.format(tamale.step(tamale.parse("1,0;2,1"), 0)) == "1,0;1,2 1 mat"
    after = abapa.step(abapa.parse("1,0;2,1"), 0)
    assert not abapa.is_terminal(after)
    assert abapa.format(abapa.step(after, 0)) == "0,0;3,1 0"


def test_mat_with_an_odd_seed_leaves_it_to_nobody():
    game = make(1, 2)
    state = game.step(game.parse("1,0;1,2"), 0)
    assert game.winner(state) is Outcome.PLAYER_1
    assert game.margin(state) == -1
    assert game.same_position(game.parse(game.format(state)), state)
    assert not game.is_terminal(game.parse("1,0;1,2 1"))


def test_a_harvest_forgets_and_quiet_moves_remember():
    game = make(4, 3)
    state, rng, harvests = game.initial_state(), random.Random(2), 0
    while not game.is_terminal(state):
        after = game.step(state, rng.choice(game.legal_actions(state)))
        before = state.store0 + state.store1
        if game.is_terminal(after):
            break
        if after.store0 + after.store1 > before:
            harvests += 1
            assert len(memory(after)) == 0
        else:
            assert len(memory(after)) == len(memory(state)) + 1
        state = after
    assert harvests


# -- states -----------------------------------------------------------------------------------------------------------


def _in_the_middle(ruleset="tamale"):
    game = make(4, 3, ruleset)
    state, rng = game.initial_state(), random.Random(11)
    while len(memory(state)) < 9:
        state = game.step(state, rng.choice(game.legal_actions(state)))
        if game.is_terminal(state):
            state = game.initial_state()
    return game, state


def test_steps_leave_the_given_state_alone_and_branches_apart():
    game, state = _in_the_middle()
    before = copy.deepcopy(state)
    children = [game.step(state, action) for action in game.legal_actions(state)]
    kept = copy.deepcopy(children)
    for child in children:
        for action in game.legal_actions(child):
            game.step(child, action)
    assert state == before
    assert children == kept


def test_copies_and_pickles_play_on_alike():
    game, state = _in_the_middle()
    for twin in (copy.deepcopy(state), pickle.loads(pickle.dumps(state)), own(state, 1), own(state, 100)):
        assert twin == state
        assert hash(twin) == hash(state)
        assert not np.shares_memory(twin.history, state.history)
        a, b, rng = state, twin, random.Random(1)
        while not game.is_terminal(a):
            action = rng.choice(game.legal_actions(a))
            a, b = game.step(a, action), game.step(b, action)
            assert a == b


def test_states_with_different_memories_differ():
    game, state = _in_the_middle()
    fresh = game.parse(game.format(state))
    assert fresh != state
    assert game.same_position(fresh, state)
    assert state != tuple(state)[:7]


def test_memory_as_a_stack():
    # A search appends in place and goes back: the states above stay what they were.
    game, state = _in_the_middle()
    root = own(state, 64)
    kept = copy.deepcopy(root)

    def walk(node, twin, depth):
        for action in game.legal_actions(node):
            after, expected = game.rules.step(node, action), game.step(twin, action)
            assert after == expected
            if depth:
                walk(after, expected, depth - 1)

    walk(root, kept, 4)
    assert root == kept


def test_step_goes_on_without_room():
    game, state = _in_the_middle()
    full = own(state, 0)
    for action in game.legal_actions(state):
        assert game.rules.step(full, action) == game.step(state, action)


def test_words_beside_a_memory_and_compact():
    game, rng = make(4, 3), random.Random(4)
    rules = game.rules
    for _ in range(40):
        array = np.zeros((300, 2), np.uint64)
        words = np.zeros(rules.words, np.uint64)
        rules.pack(game.initial_state(), words)
        state = game.initial_state()
        while not game.is_terminal(state):
            action = rng.choice(game.legal_actions(state))
            state = game.step(state, action)
            there = rules.step(rules.unpack(words, array), action)
            if rng.random() < 0.2:
                there = rules.compact(there)
                assert there.start == 0
            assert there.history is array
            assert rules.memory_length(there) == there.length
            rules.pack(there, words)
            assert rules.unpack(words, array) == state


def test_only_the_identity_is_a_symmetry():
    game = make(4, 3)
    (identity,) = game.symmetries()
    seen = game.observe(game.initial_state(), 0)
    assert np.array_equal(identity.observation(seen), seen)
    assert identity.action(2) == 2


# -- text -------------------------------------------------------------------------------------------------------------


def test_positions_as_text():
    game = board_envs.make_game("awale", pits=4, seeds=3)
    assert game.format(game.initial_state()) == "3,3,3,3,3,3,3,3;0,0 0"
    assert game.format(game.parse("1,1,1,0,0,1,0,0")) == "1,1,1,0,0,1,0,0;10,10 0"
    assert game.format(game.parse("0,0,0,1,0,1,1,0 1")) == "0,0,0,1,0,1,1,0;10,11 1"
    assert game.parse("0,0,0,1,0,1,1,0 1").store0 == 11
    assert game.parse(" 3,3,3,3,3,3,3,3;0,0  0 ") == game.initial_state()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a number"),
        ("3,3,3", "3 pits, this game has 8"),
        ("3,3,3,3,3,3,3,4", "25 seeds on the board, this game has 24"),
        ("3,3,3,3,3,3,3,3;1,0", "not 24"),
        ("3,3,3,3,3,3,3,2;0,0", "not 24"),
        ("3,3,3,3,3,3,3,-3", "'-3'"),
        ("3,3,3,3,3,3,3,x", "'x'"),
        ("3,3,3,3,3,3,3,3;0", "two numbers"),
        ("3,3,3,3,3,3,3,3;0,0 2", "seat"),
        ("3,3,3,3,3,3,3,3;0,0 0 mat", "one seed"),
        ("3,3,3,3,3,3,3,3;0,0 0 0", "a position is like"),
        ("9" * 5000 + ",0,0,0,0,0,0,0", "not a number"),
        ("３,3,3,3,3,3,3,3", "not a number"),
    ],
)
def test_refused_positions(text, why):
    with pytest.raises(PositionError, match=why):
        make(4, 3).parse(text)


def test_check_state_refuses_what_the_rules_end():
    game = make(4, 3)
    state = game.initial_state()
    assert game.check_state(state) is state
    with pytest.raises(PositionError):
        game.check_state(state._replace(store0=3))
    with pytest.raises(PositionError):
        game.check_state(state._replace(playable=np.uint64(1)))


def test_moves_as_text():
    game = make(4, 3)
    assert game.read_moves("031") == game.read_moves("0 3 1") == game.read_moves(["0", "3", "1"]) == [0, 3, 1]
    assert game.write_moves([0, 3, 1]) == "0 3 1"
    with pytest.raises(IllegalActionError, match="move 1 .*'4'.*0 to 3"):
        game.from_moves("4")
    with pytest.raises(IllegalActionError, match="the game is over"):
        game.step(game.parse("0,0,0,0,0,0,0,0;12,12"), 0)


def test_drawing_turns_the_other_row():
    game = make(4, 3)
    assert game.draw(game.parse("1,2,3,4,5,6,1,0;2,0 1")).splitlines() == [
        "player_0  0  1  6  5   store 0",
        "player_1  1  2  3  4   store 2",
        "          0  1  2  3",
    ]


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"pits": 0}, "pits must be an integer from 1 to 8"),
        ({"pits": 9}, "pits must be an integer from 1 to 8"),
        ({"pits": 8, "seeds": 8}, "from 1 to 7 with 8 pits a side .at most 127"),
        ({"seeds": 0}, "seeds must be"),
        ({"pits": 1, "seeds": 64}, "from 1 to 63"),
        ({"seeds": True}, "seeds must be"),
        ({"ruleset": "kalah"}, "'tamale' or 'abapa', not 'kalah'"),
    ],
)
def test_refused_parameters(parameters, why):
    with pytest.raises(ValueError, match=why):
        make(**parameters)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_no_size_begins_finished(ruleset):
    for pits in range(1, PITS_LIMIT + 1):
        for seeds in range(1, SEEDS_LIMIT // (2 * pits) + 1):
            if (pits, seeds, ruleset) == (1, 1, "tamale"):
                with pytest.raises(ValueError, match="begin finished"):
                    make_game("awale", pits=pits, seeds=seeds, ruleset=ruleset)
            else:
                game = make_game("awale", pits=pits, seeds=seeds, ruleset=ruleset)
                assert not game.is_terminal(game.initial_state())


def test_equal_states_have_equal_pickles():
    game = make_game("awale")
    made = []
    for _ in range(3):
        np.frombuffer(bytearray(b"\xa5" * 4096), np.uint8).copy()  # Leaves something in memory that is used again.
        state = game.from_moves(["2", "1", "0", "4", "3"])
        made.append(pickle.dumps(state))
        other = game.own(state)._replace(start=0)
        other.history[other.length :] = 7
        made.append(pickle.dumps(other))
    assert len(set(made)) == 1
    again = pickle.loads(made[0])
    assert again == state
    assert not again.history[again.length :].any()
    assert game.step(again, game.legal_actions(again)[0]) == game.step(state, game.legal_actions(state)[0])
