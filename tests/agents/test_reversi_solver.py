"""The Reversi solver against scored positions, exhaustive search, and itself in all forms and limits."""

from __future__ import annotations

import json
import pathlib
import random

import numpy as np
import pytest

pytest.importorskip("numba")

from board_agents.games.reversi import ReversiOracle
from board_agents.games.reversi.endgame_kernels import make_search
from board_agents.games.reversi.endgame_oracle import GUESSED
from board_agents.games.reversi.endgame_workspace import GUESS, MEMORY_WORDS, ORDERED, STACK, row_start
from board_agents.games.reversi.stability import make_stable
from board_agents.search.exhaustive import ExhaustiveOracle
from board_envs import make_game
from board_envs._bits import popcount
from board_envs._jit import jitable, kernel
from board_envs.games.reversi import score
from board_envs.games.reversi.moves import flipped, legal_moves, squares_of
from board_envs.games.reversi.rules import State, board_mask
from board_envs.games.reversi.tiers import make_tier, pdep, pext, tier_names

DATA = pathlib.Path(__file__).parent.parent / "data" / "reversi_endgames.jsonl"
RECORDS = [json.loads(line) for line in DATA.read_text().splitlines()]
RULES = ("plain", "empties-to-winner")


def position(game, record):
    """The position, and -1 where the side named is blocked: then the other is to move."""
    state = game.parse(f"{record['board']} {record['side']}")
    return state, 1 if game.is_terminal(state) or "XO"[state.seat] == record["side"] else -1


def random_states(game, count, seed, empties):
    """Positions of random games with at most `empties` empty squares, finished ones among them."""
    chance = random.Random(seed)
    found = []
    while len(found) < count:
        state = game.initial_state()
        while not game.is_terminal(state):
            state = game.step(state, chance.choice(game.legal_actions(state)))
            if game.num_actions - popcount(state.black | state.white) <= empties and chance.random() < 0.3:
                found.append(state)
    return found[:count]


@pytest.fixture(scope="module")
def oracles():
    game = make_game("reversi")
    return {rule: ReversiOracle(game, rule=rule, empties=20, megabytes=4) for rule in RULES}


# -- move generation --------------------------------------------------------------------------------------------------


def random_boards(count, seed):
    """Boards of any density, reachable or not, bit 63 used: uint64 (count, 2)."""
    chance = random.Random(seed)
    boards = []
    for _ in range(count):
        own, other = chance.getrandbits(64), chance.getrandbits(64)
        for _ in range(chance.randrange(3)):
            own &= chance.getrandbits(64)
        for _ in range(chance.randrange(3)):
            other |= chance.getrandbits(64)
        boards.append((own & ~other, other) if chance.random() < 0.5 else (own, other & ~own))
    return np.array(boards, np.uint64)


@pytest.mark.parametrize("name", ["vector", "bmi2", "portable"])
def test_every_tier_equals_the_interpreted_functions(name):
    if name not in tier_names():
        with pytest.raises(ValueError, match="there are"):
            make_tier(name)
        return
    moves_of, flips_of, select = make_tier(name)

    def run(boards, moves, flips, chosen):
        for i in range(boards.shape[0]):
            own, other = boards[i, 0], boards[i, 1]
            moves[i] = moves_of(own, other)
            for square in range(64):
                if not ((own | other) >> np.uint64(square)) & np.uint64(1):
                    flips[i, square] = flips_of(own, other, square)
            for k in range(popcount(own)):
                chosen[i, k] = select(own, k)

    boards = random_boards(1500, 1)
    moves = np.zeros(len(boards), np.uint64)
    flips = np.zeros((len(boards), 64), np.uint64)
    chosen = np.full((len(boards), 64), -1)
    kernel(run)(boards, moves, flips, chosen)
    for i, (own, other) in enumerate(boards):
        assert moves[i] == legal_moves(own, other)
        assert [square for square in chosen[i].tolist() if square >= 0] == squares_of(own)
        for square in squares_of(~(own | other)):
            assert flips[i, square] == flipped(own, other, square)


def test_interpreted_functions_capture_exactly_where_they_turn():
    for own, other in random_boards(300, 2):
        moves = set(squares_of(legal_moves(own, other)))
        assert moves == {square for square in squares_of(~(own | other)) if flipped(own, other, square)}


def test_gather_and_scatter_are_inverse():
    for word, mask in random_boards(100, 3):
        assert pdep(pext(word, mask), mask) == word & mask
        assert pext(pdep(word, mask), mask) == word & np.uint64((1 << popcount(mask)) - 1)


# -- stable discs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [4, 6, 8])
def test_stable_discs_are_never_turned(size):
    """Whatever is played on from random positions, a disc once called stable keeps its colour."""
    game = make_game("reversi", size=size)
    stable = make_stable(size)
    chance = random.Random(size)
    called = 0

    @kernel
    def run(boards, out):
        for i in range(boards.shape[0]):
            out[i] = stable(boards[i, 0], boards[i, 1])

    for _ in range(60):
        state, states = game.initial_state(), []
        while not game.is_terminal(state):
            state = game.rules.step(state, chance.choice(game.legal_actions(state)))
            states.append(state)
        boards = np.array([(s.black, s.white) for s in states] + [(s.white, s.black) for s in states], np.uint64)
        out = np.zeros(len(boards), np.uint64)
        run(boards, out)
        for k in range(len(states)):
            assert not out[k] & ~states[-1].black
            assert not out[len(states) + k] & ~states[-1].white
            called += popcount(out[k])
    assert called > 100


# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_scored_positions(oracles, rule):
    """1 to 20 empty squares, blocked sides and finished games among them, every move's value where it is known."""
    game = make_game("reversi")
    field = "score" if rule == "empties-to-winner" else "score_raw"
    moves_seen = 0
    for record in RECORDS:
        state, sign = position(game, record)
        solution = oracles[rule].solve(state)
        if field in record:
            assert solution.value == sign * record[field], record["id"]
        if rule == "empties-to-winner" and sign == 1 and record.get("moves"):
            values = oracles[rule].action_values(state)
            assert {game.action_to_text(state, action): value for action, value in values.items()} == record["moves"]
            assert values[solution.best] == solution.value == max(values.values())
            moves_seen += len(values)
    assert moves_seen > 300 or rule == "plain"


def test_the_rules_differ_in_value_never_in_sign(oracles):
    game = make_game("reversi")
    differ = 0
    for record in RECORDS:
        if "score_raw" in record:
            differ += record["score"] != record["score_raw"]
            assert np.sign(record["score"]) == np.sign(record["score_raw"])
            state, sign = position(game, record)
            for oracle in oracles.values():
                assert oracle.solve(state, goal="outcome").value == sign * np.sign(record["score"])
    assert differ >= 10


@pytest.mark.parametrize(("size", "tier", "empties", "count"), [(4, "portable", 12, 60), (6, "bmi2", 5, 40)])
def test_small_boards_equal_exhaustive_search(size, tier, empties, count):
    """Both rules; the exhaustive oracle knows the plain one, the other is checked by its own recursion here."""
    game = make_game("reversi", size=size)
    tier = tier if tier in tier_names() else None
    slow = ExhaustiveOracle(game, budget=10**6)
    fast = {rule: ReversiOracle(game, rule=rule, megabytes=1, tier=tier) for rule in RULES}
    memory = {}

    def best(state):
        key = (int(state.black), int(state.white), state.seat)
        if key not in memory:
            sign = 1 - 2 * state.seat
            if not state.moves:
                memory[key] = sign * score(state, "empties-to-winner", size)
            else:
                after = [game.rules.step(state, action) for action in game.legal_actions(state)]
                memory[key] = max(best(s) if s.seat == state.seat else -best(s) for s in after)
        return memory[key]

    for state in random_states(game, count, size, empties):
        assert fast["plain"].action_values(state) == slow.action_values(state)
        assert fast["empties-to-winner"].solve(state).value == best(state)
        for oracle in fast.values():
            assert oracle.solve(state, goal="outcome").value == np.sign(oracle.solve(state).value)


def test_four_by_four_from_the_start():
    game = make_game("reversi", size=4)
    start = game.initial_state()
    tier = "portable"
    plain = ReversiOracle(game, megabytes=1, tier=tier)
    assert plain.solve(start).value == -8
    assert ReversiOracle(game, rule="empties-to-winner", megabytes=1, tier=tier).solve(start).value == -10
    assert set(plain.action_values(start).values()) == {-8.0}
    line = plain.line(start)
    state = start
    for action in line:
        state = game.step(state, action)
    assert game.is_terminal(state)
    assert game.margin(state) == -8


def test_lines_reach_their_value(oracles):
    game = make_game("reversi")
    for record in RECORDS:
        if record["board"].count("-") <= 14:
            state, _ = position(game, record)
            for rule, oracle in oracles.items():
                solution, end = oracle.solve(state), state
                for action in oracle.line(state):
                    end = game.step(end, action)
                assert game.is_terminal(end)
                assert score(end, rule) * (1 - 2 * state.seat) == solution.value


def test_symmetric_positions_have_symmetric_values(oracles):
    game = make_game("reversi")
    for record in RECORDS[40:52]:
        state, _ = position(game, record)
        values = oracles["plain"].action_values(state)
        for symmetry in game.symmetries():
            image = game.decode(symmetry.observation(game.observe(state, state.seat)), state.seat)
            expected = {symmetry.action(action): value for action, value in values.items()}
            assert oracles["plain"].action_values(image) == expected
        swapped = State(state.white, state.black, 1 - state.seat, state.moves)
        assert oracles["plain"].action_values(swapped) == values


def test_finished_games_and_full_boards(oracles):
    game = make_game("reversi")
    over = game.from_moves("d3c3b3d2e1d6d7e3f4")  # black has wiped white out, 51 squares are empty
    for rule, value in (("plain", 13), ("empties-to-winner", 64)):
        assert oracles[rule].solve(over).value == -value  # white would be next
        assert oracles[rule].solve(over).best is None
    full = game.parse("X" * 40 + "O" * 24 + " O")
    for oracle in oracles.values():
        assert oracle.solve(full).value == -16
        assert oracle.action_values(full) == {}
        assert oracle.line(full) == []
        assert oracle.best_move(full) is None


# -- limits -----------------------------------------------------------------------------------------------------------


def test_out_of_reach_is_said(oracles):
    game = make_game("reversi")
    start = game.initial_state()
    oracle = oracles["plain"]
    assert oracle.action_values(start) is None
    assert oracle.value(start) is None
    assert oracle.best_move(start) is None
    assert oracle.line(start) == []
    for limits in ({"nodes": 20_000}, {"seconds": 0.05}):
        solution = oracle.solve(start, **limits)
        assert (solution.value, solution.best) == (None, None)
    for nodes in (20, 20_000):
        assert oracle.solve(start, nodes=nodes).nodes <= nodes + 100


def test_a_stopped_search_leaves_nothing_false_behind():
    """Searches cut off at many points, then finished with the same table: the values stay right."""
    game = make_game("reversi")
    records = [record for record in RECORDS if "moves" in record and 11 <= record["board"].count("-") <= 14]
    oracle = ReversiOracle(game, rule="empties-to-winner", megabytes=1)
    cut = 0
    for record in records:
        state, sign = position(game, record)
        for nodes in (1, 10, 100, 300, 1000):
            solution = oracle.solve(state, nodes=nodes)
            cut += solution.value is None
            assert solution.value in (None, sign * record["score"])
        assert oracle.solve(state).value == sign * record["score"]
    assert cut > len(records)


def test_a_node_limit_gives_the_same_answer_every_time():
    game = make_game("reversi")
    states = [position(game, record)[0] for record in RECORDS if record["board"].count("-") >= 13]
    runs = []
    for _ in range(2):
        oracle = ReversiOracle(game, nodes=2000, megabytes=1)
        runs.append([oracle.action_values(state) for state in states])
    assert runs[0] == runs[1]
    assert None in runs[0]


def test_many_at_once_equal_one_by_one(oracles):
    game = make_game("reversi")
    states = [position(game, record)[0] for record in RECORDS if record["board"].count("-") <= 14]
    oracle = ReversiOracle(game, megabytes=1)
    counts = []
    solutions = oracle.solve_many(states, threads=3, progress=counts.append)
    assert [s.value for s in solutions] == [oracles["plain"].solve(state).value for state in states]
    assert counts == list(range(1, len(states) + 1))
    assert oracle.solve_many([]) == []


def test_several_threads_on_one_position(oracles):
    """The same values, and limits that hold; a search that a helper ends first leaves the oracle fit for the next."""
    game = make_game("reversi")
    oracle = ReversiOracle(game, rule="empties-to-winner", megabytes=4, threads=3)
    states = [position(game, record) for record in RECORDS if record["board"].count("-") >= 17]
    scores = [record["score"] for record in RECORDS if record["board"].count("-") >= 17]
    assert len(states) >= 3
    for _ in range(2):
        for (state, sign), value in zip(states, scores, strict=True):
            solution = oracle.solve(state)
            assert solution.value == sign * value
            assert oracles["empties-to-winner"].action_values(state)[solution.best] == solution.value
    assert oracle.solve(game.initial_state(), nodes=20_000).value is None
    assert oracle.solve(game.initial_state(), seconds=0.05).value is None
    assert oracle.solve(states[0][0]).value == states[0][1] * scores[0]


def test_a_search_goes_on_in_another_process(tmp_path):
    """What a stopped search knew, saved and loaded, makes the rest shorter; foreign and damaged files are refused."""
    game = make_game("reversi")
    record = next(record for record in RECORDS if record["board"].count("-") == 17)
    state, sign = position(game, record)
    whole = ReversiOracle(game, rule="empties-to-winner", megabytes=4)
    nodes = whole.solve(state).nodes
    first = ReversiOracle(game, rule="empties-to-winner", megabytes=4)
    assert first.solve(state, nodes=nodes * 3 // 4).value is None
    file = tmp_path / "table"
    first.save(file)
    second = ReversiOracle(game, rule="empties-to-winner", megabytes=4)
    second.load(file)
    solution = second.solve(state)
    assert solution.value == sign * record["score"]
    assert solution.nodes < nodes * 3 // 4
    with pytest.raises(ValueError, match="rule is 'empties-to-winner', this oracle needs 'plain'"):
        ReversiOracle(game, megabytes=4).load(file)
    with pytest.raises(ValueError, match="bits is"):
        ReversiOracle(game, rule="empties-to-winner", megabytes=8).load(file)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(ValueError, match="checksum"):
        second.load(file)
    file.write_bytes(data[:5000])
    with pytest.raises(ValueError, match="checksum"):
        second.load(file)
    for wrong in (b"", b"[]\n", b"{}\n", b"\xff\x00"):
        file.write_bytes(wrong)
        with pytest.raises(ValueError, match="table|format"):
            second.load(file)
    assert list(tmp_path.iterdir()) == [file]


def test_parameters_are_checked():
    game = make_game("reversi")
    for wrong in (
        {"rule": "x"},
        {"empties": -1},
        {"empties": 65},
        {"nodes": 0},
        {"seconds": 0},
        {"seconds": "1"},
        {"megabytes": 0},
        {"threads": 0},
        {"tier": "x"},
    ):
        with pytest.raises(ValueError, match=r"."):
            ReversiOracle(game, **wrong)
    with pytest.raises(ValueError, match="goal must be"):
        ReversiOracle(game).solve(game.initial_state(), goal="win")
    with pytest.raises(ValueError, match="a Reversi solver cannot solve"):
        ReversiOracle(make_game("nim"))


def test_a_prepared_oracle_has_all_that_its_reach_needs():
    game = make_game("reversi")
    for empties, wanted in ((14, (False, False)), (18, (True, False)), (20, (True, True))):
        oracle = ReversiOracle(game, empties=empties, megabytes=1)
        oracle.prepare()
        assert oracle._searcher._search.window.signatures
        assert (oracle._searcher._context is not None, oracle._searcher._thinker is not None) == wanted


def test_one_compilation_serves_all_positions(oracles):
    assert oracles
    assert len(oracles["plain"]._searcher._search.window.signatures) == 1
    assert board_mask(8) == ~np.uint64(0)


# -- order of the moves -----------------------------------------------------------------------------------------------


def test_every_move_of_a_position_has_room():
    """A position with n empty squares has up to n moves, 33 have been seen: no row reaches into the next."""
    assert row_start(1) >= STACK
    for n in range(1, 64):
        assert row_start(n) + 2 * n <= row_start(n + 1)
    assert row_start(64) + 2 * 64 <= MEMORY_WORDS


@jitable
def lowest_square_first(_own, _other, square, _turned, n, _context):
    """The worst there is: without regard to the position."""
    return -square if n >= ORDERED else 1000


def test_an_ordering_changes_the_way_never_the_value(oracles):
    game = make_game("reversi")
    oracle = ReversiOracle(game, rule="empties-to-winner", megabytes=4)
    oracle._searcher._search = make_search(8, None, lowest_square_first)
    nodes = [0, 0]
    for record in RECORDS:
        if 15 <= record["board"].count("-") <= 17:
            state, sign = position(game, record)
            fresh = ReversiOracle(game, rule="empties-to-winner", megabytes=4)
            found = [fresh.solve(state), oracle.solve(state)]
            assert {solution.value for solution in found} == {sign * record["score"]}
            nodes = [total + solution.nodes for total, solution in zip(nodes, found, strict=True)]
    assert nodes[1] > nodes[0] > 0


# -- the first guess --------------------------------------------------------------------------------------------------


def test_a_first_guess_changes_the_way_never_the_value(monkeypatch):
    game = make_game("reversi")
    records = [record for record in RECORDS if 13 <= record["board"].count("-") <= 16]
    nodes = {"right": 0, "low": 0, "high": 0, "odd": 0}
    for record in records:
        state, sign = position(game, record)
        value = sign * record["score"]
        for name, bar in {"right": value - 1, "low": -63, "high": 63, "odd": value}.items():
            oracle = ReversiOracle(game, rule="empties-to-winner", megabytes=1)
            monkeypatch.setattr(oracle._searcher, "_first_bar", lambda *_, bar=bar: bar)
            solution = oracle.solve(state)
            assert solution.value == value
            nodes[name] += solution.nodes
    assert nodes["right"] < min(nodes["low"], nodes["high"])


def test_from_19_empty_squares_up_every_thread_begins_at_the_same_guess():
    game = make_game("reversi")
    record = next(record for record in RECORDS if record["board"].count("-") >= GUESSED)
    state, sign = position(game, record)
    assert sign == 1
    for threads in (1, 3):
        oracle = ReversiOracle(game, rule="empties-to-winner", threads=threads)
        assert oracle.solve(state).value == record["score"]
        bars = {int(searcher._memory[GUESS]) - 100 for searcher in (oracle._searcher, *oracle._searcher.helpers)}
        assert len(bars) == 1
        assert abs(bars.pop() - record["score"]) < 12
    smaller = next(record for record in RECORDS if record["board"].count("-") == 16)
    oracle.solve(position(game, smaller)[0])
    assert oracle._searcher._memory[GUESS] == 99
