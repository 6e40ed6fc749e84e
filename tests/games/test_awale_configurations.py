"""Configurations of Awalé and their codes, and the exam sheet of the source."""

import importlib.util
import itertools
import json
import pathlib
import random
import re

import pytest

from board_envs._jit import have_numba
from board_envs.games.awale import configurations as c
from board_envs.games.awale import make

TESTS = pathlib.Path(__file__).parents[1]
SHEET = json.loads((TESTS / "data" / "awale" / "ens2016_u0_42.json").read_text())


def _exam():
    spec = importlib.util.spec_from_file_location("ens2016_awale", TESTS.parent / "examples" / "ens2016_awale.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_exam_sheet():
    answers = json.loads(json.dumps(_exam().answers(SHEET["u0"])))
    for question in map(str, range(1, 11)):
        assert answers[question] == SHEET["answers"][question], f"Q{question}"


def test_another_number_gives_other_answers():
    assert _exam().answers(43)["1"] != _exam().answers(42)["1"]


def test_the_exam_prints_and_refuses(capsys, monkeypatch):
    exam = _exam()
    monkeypatch.setattr("sys.argv", ["ens2016_awale.py"])
    exam.main()
    printed = capsys.readouterr().out
    assert "Q5: a) 235  b) 290  c) 309\n" in printed
    assert ("Q12: a) -4  b) 1  c) 4\n" if have_numba() else "Q12: not answered: ") in printed
    monkeypatch.setattr("sys.argv", ["ens2016_awale.py", "--u0", "-1"])
    with pytest.raises(SystemExit):
        exam.main()
    assert "--u0 must be from 0 to 2147483647, not -1" in capsys.readouterr().err


def test_examples_of_the_source():
    # Example 1, example 3 (sowing, harvest, gain) and example 5.
    assert c.vector((2, 1, 4, 0, 1, 5, 2, 4)) == (2, 4, 9, 10, 12, 18, 21)
    shown = (0, 12, 4, 1, 0, 1, 1, 1)
    assert c.sow(shown, 2) == (0, 12, 0, 2, 1, 2, 2, 1)
    assert c.coup(shown, 2) == (0, 12, 0, 2, 1, 0, 0, 1)
    assert [c.gain(shown, pit) for pit in (1, 2, 3)] == [8, 4, 0]
    assert c.coup(shown, 1) == (1, 0, 6, 3, 0, 0, 0, 2)
    assert c.playable((1, 2, 2, 0, 2, 0, 0, 0)) == [0, 1]
    assert c.playable((1, 2, 2, 0, 0, 0, 0, 0)) == [2]
    assert c.is_terminal((1, 0, 0, 0, 0, 0, 0, 0))
    seen = [(0, 1, 0, 1)]
    for pit in (1, 1, 0, 0):
        seen.append(c.rotation(c.coup(seen[-1], pit)))
    assert seen[-1] == seen[0]


@pytest.mark.parametrize(("pits", "seeds"), [(1, 0), (1, 9), (2, 6), (3, 5), (4, 4)])
def test_ranks_are_the_order_of_all_configurations(pits, seeds):
    listed = list(c.configurations(pits, seeds))
    assert len(set(listed)) == len(listed) == c.count(pits, seeds)
    assert all(sum(one) == seeds for one in listed)
    assert [c.rank(one) for one in listed] == list(range(len(listed)))
    assert [c.unrank(number, seeds, pits) for number in range(len(listed))] == listed
    assert listed[0] == (0,) * (2 * pits - 1) + (seeds,)
    # The source's order: vectors compared from their last number.
    vectors = [c.vector(one)[::-1] for one in listed]
    assert vectors == sorted(vectors)


def test_codes_are_a_bijection_on_small_totals_and_random_large_ones():
    codes = {c.code(one) for seeds in range(6) for one in c.configurations(4, seeds)}
    assert len(codes) == sum(c.count(4, seeds) for seeds in range(6))
    rng = random.Random(1)
    for pits, total in ((4, 24), (6, 48), (8, 127)):
        for _ in range(50):
            seeds = rng.randint(0, total)
            number = seeds + (total + 1) * rng.randrange(c.count(pits, seeds))
            assert c.code(c.from_code(number, pits, total), total) == number


@pytest.mark.parametrize("size", [(1, 4), (2, 5), (3, 4), (4, 3), (2, 12)])
@pytest.mark.parametrize("ruleset", ["tamale", "abapa"])
def test_anti_moves_undo_all_quiet_moves(size, ruleset):
    pits, seeds = size
    parents = {one: set() for one in c.configurations(pits, seeds)}
    for one in parents:
        for pit in c.playable(one, ruleset):
            if not c.gain(one, pit, ruleset):
                parents[c.coup(one, pit, ruleset)].add((one, pit))
    for one, expected in parents.items():
        found = c.anti_moves(one, ruleset)
        assert len(found) == len(set(found))
        assert set(found) == expected


def test_binomials_are_pascals():
    table = c.binomials(32, 8)
    assert (table[5][2], table[31][7], table[3][5]) == (10, 2629575, 0)
    for n, k in itertools.product(range(1, 32), range(1, 8)):
        assert table[n][k] == table[n - 1][k - 1] + table[n - 1][k]


def test_states_have_configurations():
    game = make(4, 3)
    state = game.step(game.initial_state(), 2)
    assert c.configuration_of(state, 4) == c.rotation(c.coup((3,) * 8, 2)) == (4, 4, 3, 3, 3, 3, 0, 4)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: c.check((1, 2, 3)), "2 to 16 pits, an even number, not 3"),
        (lambda: c.check((1, -1)), "negative"),
        (lambda: c.check((64, 64)), "128 seeds are more than 127"),
        (lambda: c.coup((0, 1, 1, 1), 0), "pit 0"),
        (lambda: c.coup((1, 1, 1, 1), 2), "pit 2"),
        (lambda: c.sow((1, 1, 1, 1), -1), "pit -1"),
        (lambda: c.encode((1, 1)), "must increase"),
        (lambda: c.decode(-1, 7), "0 or more, not -1"),
        (lambda: c.unrank(3432, 7, 4), "ranks 0 to 3431, not 3432"),
        (lambda: c.unrank(0, 128, 4), "0 to 127 seeds"),
        (lambda: c.from_code(7 + 25 * 3432), "not 3432"),
        (lambda: c.from_code(-1), "0 or more"),
        (lambda: c.code((13, 0, 0, 0, 12, 0, 0, 0)), "25 seeds are more than the total of 24"),
    ],
)
def test_refusals(call, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        call()


def test_the_exam_sheet_of_retrograde_analysis():
    answers = json.loads(json.dumps(_exam().answers(SHEET["u0"])))
    assert answers["11"] == SHEET["answers"]["11"]


def test_the_last_question_needs_the_tables():
    pytest.importorskip("numba")
    # The source lost these answers; the tables behind them have known checksums (see test_awale_tables.py).
    assert _exam().answers_by_tables(SHEET["u0"]) == [-4, 1, 4]
