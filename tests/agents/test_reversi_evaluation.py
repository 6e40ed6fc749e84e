"""The learned evaluation of Reversi: its patterns, files, fit and search, each against something slow and plain."""

import random

import numpy as np
import pytest

pytest.importorskip("numba")

from board_agents.games.reversi import evaluation_training as learning
from board_agents.games.reversi.pattern_evaluation import PHASES, UNIT, Evaluation, EvaluationError, estimate, phase_of
from board_agents.games.reversi.patterns import KINDS, indices, kind_offsets, placements, shared
from board_agents.games.reversi.thinking import Thinker
from board_envs import make_game
from board_envs._bits import popcount
from board_envs._jit import kernel
from board_envs.games.reversi.moves import flipped, legal_moves, squares_of
from board_envs.games.reversi.tiers import tier_names

GAME = make_game("reversi")
COUNT = int(shared().max()) + 1


def random_evaluation(seed, facts=None):
    rng = np.random.default_rng(seed)
    # Multiples of a file's quantum that fit a byte.
    return Evaluation(rng.integers(-15, 16, (PHASES, COUNT)) * 8, rng.integers(-300, 300, 65), facts)


def random_boards(count, seed):
    """Positions of random games in the mover's view: [(own, other)]."""
    chance, found = random.Random(seed), []
    while len(found) < count:
        state = GAME.initial_state()
        while not GAME.is_terminal(state):
            if chance.random() < 0.1:
                found.append((state.black, state.white) if state.seat == 0 else (state.white, state.black))
            state = GAME.step(state, chance.choice(GAME.legal_actions(state)))
    return found[:count]


def test_there_are_46_patterns_that_see_every_square():
    kinds = [kind for kind, _ in placements()]
    assert len(kinds) == 46
    assert {kind: kinds.count(kind) for kind in KINDS} == {
        "corner 3x3": 4, "corner 2x5": 8, "edge and inner corners": 4, "row 2": 4, "row 3": 4, "row 4": 4,
        "diagonal of 8": 2, "diagonal of 7": 4, "diagonal of 6": 4, "diagonal of 5": 4, "diagonal of 4": 4,
    }  # fmt: skip
    assert {square for _, squares in placements() for square in squares} == set(range(64))
    for _, squares in placements():
        assert len(set(squares)) == len(squares)


def test_weights_are_shared_exactly_between_images():
    """The multiset of weights that a board sees is that of each of its eight images."""
    for own, other in random_boards(20, 1):
        state = GAME.parse(GAME.format(GAME.initial_state()))._replace(black=own, white=other)
        seen = set()
        for symmetry in GAME.symmetries():
            image = GAME.decode(symmetry.observation(GAME.observe(state, 0)), 0)
            found = [
                int(shared()[kind_offsets()[kind] + index])
                for (kind, _), index in zip(placements(), indices(int(image.black), int(image.white)), strict=True)
            ]
            seen.add(tuple(sorted(found)))
        assert len(seen) == 1


def test_compiled_estimates_are_the_plain_sums():
    evaluation = random_evaluation(2)

    @kernel
    def run(boards, address, scratch, out):
        for i in range(boards.shape[0]):
            own, other = boards[i, 0], boards[i, 1]
            out[i] = estimate(own, other, 64 - popcount(own | other), address, scratch)

    boards = random_boards(300, 3)
    out, scratch = np.zeros(len(boards), np.int64), np.zeros(12, np.uint64)
    run(np.array(boards, np.uint64), evaluation.address, np.uint64(scratch.ctypes.data), out)
    clipped = 0
    for k, (own, other) in enumerate(boards):
        empties = 64 - popcount(own | other)
        row = evaluation.weights[phase_of(empties)]
        plain = int(evaluation.bias[empties])
        for (kind, _), index in zip(placements(), indices(int(own), int(other)), strict=True):
            plain += int(row[shared()[kind_offsets()[kind] + index]])
        clipped += abs(plain) > 63 * UNIT
        assert out[k] == max(-63 * UNIT, min(63 * UNIT, plain))
        if k < 10:  # the interpreted form, slowly
            state = GAME.initial_state()._replace(black=own, white=other)
            assert evaluation.value(state) == out[k] / UNIT
    assert clipped < len(boards) // 2


def test_a_file_brings_back_the_same_weights(tmp_path):
    evaluation = random_evaluation(4, {"games": 3})
    evaluation.save(tmp_path / "weights")
    again = Evaluation.load(tmp_path / "weights")
    assert (again.weights == evaluation.weights).all()
    assert (again.bias == evaluation.bias).all()
    assert again.facts == {"games": 3}
    assert [path.name for path in tmp_path.iterdir()] == ["weights"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "no weights"),
        (lambda data: b"[1, 2]\n" + data, "no weights"),
        (lambda data: b'{"format": "other", "sha256": ""}\n', "format is 'other'"),
        (lambda data: data.replace(b'"version": 1', b'"version": 2'), "version is 2"),
        (lambda data: data.replace(b'"phases": 13', b'"phases": 12'), "phases is 12"),
        (lambda data: data[:-1000], "cut or damaged"),
        (lambda data: data.replace(b'"games": 3', b'"games": 4'), "checksum"),
        (lambda data: data.replace(b'"bias": [', b'"bias": [1'), "checksum"),
    ],
)
def test_foreign_cut_and_altered_files_are_refused(tmp_path, change, message):
    path = tmp_path / "weights"
    random_evaluation(5, {"games": 3}).save(path)
    data = path.read_bytes()
    assert change(data) != data
    path.write_bytes(change(data))
    with pytest.raises(EvaluationError, match=message):
        Evaluation.load(path)


# -- search -----------------------------------------------------------------------------------------------------------


def plain_value(evaluation, own, other, depth):
    """The value of plain minimax, in units."""
    moves = legal_moves(own, other)
    if not moves:
        if not legal_moves(other, own):
            return UNIT * (popcount(own) - popcount(other))
        return -plain_value(evaluation, other, own, depth)
    if depth == 0:
        return round(evaluation.value(GAME.initial_state()._replace(black=own, white=other)) * UNIT)
    best = -(10**6)
    for square in squares_of(moves):
        turned = flipped(own, other, square)
        mine, theirs = own | turned | (np.uint64(1) << np.uint64(square)), other ^ turned
        best = max(best, -plain_value(evaluation, theirs, mine, depth - 1))
    return best


@pytest.mark.parametrize("tier", [tier_names()[0]])
def test_the_search_finds_the_values_of_plain_minimax(tier):
    evaluation = random_evaluation(6)
    thinker = Thinker(evaluation, table_bits=10, tier=tier)
    compared = 0
    for own, other in random_boards(40, 7):
        if popcount(legal_moves(own, other)) > 8:
            continue
        thinker.begin()
        for depth in (1, 2, 3) if popcount(own | other) > 52 else (1, 2):
            found = thinker.search(own, other, depth, whole=True)
            wanted = {}
            for square in squares_of(legal_moves(own, other)):
                turned = flipped(own, other, square)
                mine, theirs = own | turned | (np.uint64(1) << np.uint64(square)), other ^ turned
                wanted[square] = -plain_value(evaluation, theirs, mine, depth - 1)
            assert found.values == wanted
            assert found.value == max(wanted.values()) == wanted[found.square]
            alone = thinker.search(own, other, depth)
            assert alone.value == found.value
            assert alone.values.items() <= wanted.items()
            compared += 1
    assert compared > 20


def test_to_the_end_the_search_is_exact():
    """With as many plies as empty squares no estimate is left in the value."""
    from board_agents.games.reversi import ReversiOracle

    oracle = ReversiOracle(GAME, megabytes=1)
    thinker = Thinker(random_evaluation(8), table_bits=14)
    seen = 0
    for own, other in random_boards(400, 9):
        empties = 64 - popcount(own | other)
        if empties <= 9 and legal_moves(own, other):
            thinker.begin()
            found = thinker.search(own, other, empties)
            state = GAME.initial_state()._replace(black=own, white=other, moves=legal_moves(own, other))
            assert found.value == UNIT * oracle.solve(state).value
            seen += 1
    assert seen > 20


# -- training ---------------------------------------------------------------------------------------------------------


def test_the_fit_finds_weights_that_explain_the_games():
    """Values that a known evaluation made: the fit explains positions that it has not seen, too."""
    rng = np.random.default_rng(10)
    boards = np.array(random_boards(6000, 11), np.uint64)
    boards = boards[(64 - np.bitwise_count(boards[:, 0] | boards[:, 1]) - 22) ** 2 <= 4]
    slots = learning.slots_of(boards)
    # Each disc in a corner's pattern counts, by its square.
    digits = np.arange(3**9)[:, None] // 3 ** np.arange(9) % 3
    whole = ((digits == 1) - (digits == 2).astype(int)) @ rng.normal(0, 3, 9)
    truth = np.zeros(COUNT + 65)
    truth[shared()[: 3**9]] = whole
    values = truth[slots].sum(axis=1)
    positions = learning.Positions(boards, np.clip(np.rint(values), -64, 64).astype(np.int8))
    cut = len(boards) * 9 // 10
    fitted = learning.fit_phase(learning.Positions(boards[:cut], positions.values[:cut]), phase_of(22), ridge=0.5)
    error = np.abs(fitted[slots[cut:]].sum(axis=1) - positions.values[cut:]).mean()
    assert error < 0.85 * np.abs(positions.values[cut:]).mean()
    assert np.abs(fitted[slots[:cut]].sum(axis=1) - positions.values[:cut]).mean() < error


def test_games_for_training_are_labelled_by_what_they_lead_to():
    """Each position's value is that of a solved one: where few squares are empty it is exact itself."""
    from board_agents.games.reversi import ReversiOracle

    oracle = ReversiOracle(GAME, megabytes=1)
    found = learning.play_games(random_evaluation(12), seed=3, games=12, depth=2, solved=9)
    again = learning.play_games(random_evaluation(12), seed=3, games=12, depth=2, solved=9)
    assert (found.boards == again.boards).all()
    assert (found.values == again.values).all()
    exact = 0
    for (own, other), value, empties in zip(found.boards, found.values.tolist(), found.empties.tolist(), strict=True):
        assert not own & other
        assert -64 <= value <= 64
        if empties <= 9:
            state = GAME.initial_state()._replace(black=own, white=other, moves=legal_moves(own, other))
            assert oracle.solve(state).value == value
            exact += 1
    assert exact >= 24
    assert len(found.values) > 200
