"""Likelihood of superiority and the sequential test against numerical integration and simulation."""

import json
import math

import numpy as np
import pytest

from board_agents.arena import tournament
from board_agents.arena.statistics.sprt import (
    PairCounter,
    Sprt,
    likelihood_of_superiority,
    log_likelihood_ratio,
    score_of_elo,
)
from board_agents.cli import main
from board_envs import make_game


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (0, 3), (7, 5), (40, 60), (300, 280)])
def test_superiority_is_the_integral_of_the_posterior(wins, losses):
    p = (np.arange(200_000) + 0.5) / 200_000
    log_density = wins * np.log(p) + losses * np.log1p(-p)
    density = np.exp(log_density - log_density.max())
    expected = density[p > 0.5].sum() / density.sum()
    assert likelihood_of_superiority(wins, losses) == pytest.approx(expected, abs=1e-5)


def test_superiority_of_many_games_is_finite_and_symmetric():
    assert likelihood_of_superiority(0, 0) == 0.5
    assert likelihood_of_superiority(5000, 5000) == pytest.approx(0.5, abs=1e-9)
    assert likelihood_of_superiority(5100, 4900) == pytest.approx(0.977, abs=0.002)
    assert likelihood_of_superiority(60, 40) + likelihood_of_superiority(40, 60) == pytest.approx(1)
    assert likelihood_of_superiority(20_000, 0) == 1.0
    with pytest.raises(ValueError, match="-1 wins"):
        likelihood_of_superiority(-1, 0)


def test_ratio_of_two_kinds_is_the_binomial_one():
    counts = (30, 70)
    expected = 70 * math.log(0.6 / 0.5) + 30 * math.log(0.4 / 0.5)
    assert log_likelihood_ratio(counts, 0.5, 0.6) == pytest.approx(expected)


def test_ratio_of_three_kinds_beats_every_other_distribution_of_the_same_mean():
    counts, mean = (20, 50, 30), 0.6
    # Distributions with the mean 0.6: win = w, draw = 2 (0.6 - w), loss = 1 - win - draw.
    best = {}
    for target in (0.5, mean):
        w = np.linspace(1e-6, target, 400_001)[1:-1]
        d = 2 * (target - w)
        loss = 1 - w - d
        ok = loss > 0
        w, d, loss = w[ok], d[ok], loss[ok]
        best[target] = (counts[0] * np.log(loss) + counts[1] * np.log(d) + counts[2] * np.log(w)).max()
    assert log_likelihood_ratio(counts, 0.5, mean) == pytest.approx(best[mean] - best[0.5], abs=1e-4)


def test_no_games_say_nothing_and_extremes_are_finite():
    test = Sprt(elo0=0, elo1=100)
    assert test.test((0, 0, 0, 0, 0)).decision == "continue"
    assert test.test((0, 0, 0)).llr == 0.0
    assert test.test((0, 0, 0, 0, 60)).decision == "accept"
    assert test.test((60, 0, 0, 0, 0)).decision == "reject"
    all_drawn = test.test((0, 0, 200, 0, 0))
    assert all_drawn.decision == "reject"
    assert math.isfinite(all_drawn.llr)


def test_the_score_of_a_difference():
    assert score_of_elo(0) == 0.5
    assert score_of_elo(400) == pytest.approx(10 / 11)
    assert score_of_elo(-200) + score_of_elo(200) == pytest.approx(1)


@pytest.mark.parametrize(("true_elo", "wrong"), [(0, "accept"), (100, "reject")])
def test_error_rates_hold(true_elo, wrong):
    """Simulated matches of pairs: the wrong decision comes up about as rarely as asked (5 %, at most 10 % of 100)."""
    generator = np.random.default_rng(3)
    test = Sprt(elo0=0, elo1=100, alpha=0.05, beta=0.05)
    score, draws = score_of_elo(true_elo), 0.3
    game = [1 - score - draws / 2, draws, score - draws / 2]
    mistakes = 0
    for _ in range(100):
        counts = [0] * 5
        decision = "continue"
        while decision == "continue":
            first, second = generator.choice(3, size=2, p=game)
            counts[first + second] += 1
            decision = test.test(counts).decision
        mistakes += decision == wrong
    assert mistakes <= 10


@pytest.mark.parametrize("wrong", [{"elo0": 5, "elo1": 5}, {"alpha": 0}, {"beta": 1}, {"alpha": 0.6, "beta": 0.5}])
def test_hypotheses_that_cannot_be_tested_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must"):
        Sprt(**wrong)


def test_wrong_counts_are_refused():
    with pytest.raises(ValueError, match="at least two numbers"):
        log_likelihood_ratio((3,), 0.5, 0.6)
    with pytest.raises(ValueError, match="negative"):
        log_likelihood_ratio((3, -1), 0.5, 0.6)
    with pytest.raises(ValueError, match="strictly"):
        log_likelihood_ratio((3, 1), 0.5, 1.0)


def test_pairs_are_counted_by_points_in_any_order():
    game = make_game("connect-four", rows=4, columns=4, connect=4)
    records = list(tournament(game, ["greedy", "random"], games=41, seed=2).records)
    points = {}
    for record in records:
        won = record.winner if record.winner == 2 else record.agents[record.winner]
        points.setdefault(record.opening_number, []).append({"greedy": 1, 2: 0.5, "random": 0}[won])
    expected = [sum(sum(p) == score and len(p) == 2 for p in points.values()) for score in (0, 0.5, 1, 1.5, 2)]
    for order in (records, records[::-1]):
        pairs = PairCounter("greedy")
        complete = [pairs.add(record) for record in order]
        assert pairs.counts == expected
        assert sum(complete) == sum(expected) == 20  # the game of the last opening has no partner


def test_pairs_with_an_unfinished_game_are_left_out():
    records = tournament(make_game("nim"), ["greedy", "random"], games=8, seed=2, max_plies=3).records
    pairs = PairCounter("greedy")
    assert not any(pairs.add(record) for record in records if record.opening_number == 0)
    for record in records:
        pairs.add(record)
    assert pairs.left_out > 0


def test_a_match_stops_when_the_test_is_sure(capsys):
    arguments = ["tournament", "nim", "-a", "nim-xor,random", "-n", "400", "--json", "--sprt"]
    assert main([*arguments, "0,100"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["sprt"]["decision"] == "accept"
    assert data["played"] == 2 * data["sprt"]["observations"] < 60
    assert data["pairs"][0]["superiority"] > 0.999
    assert main([*arguments, "0,100", "-a", "greedy"]) == 2
    assert "compares two agents" in capsys.readouterr().err
