"""Move quality: hand-counted games, perfect and worst agents, what is not counted."""

import math

import pytest

from board_agents import make_oracle
from board_agents.arena import play_game, tournament
from board_agents.arena.statistics.quality import (
    Quality,
    horizon,
    judge,
    judge_decision,
    judge_records,
    outcome_for_mover,
    phase_of,
    wilson,
)
from board_envs import make_game
from board_envs.policies import agent_builder

NIM = make_game("nim")
SMALL = make_game("connect-four", rows=4, columns=4, connect=3)


def scripted(moves):
    """An agent's builder that plays given actions one after the other."""

    @agent_builder
    def build(game):
        queue = list(moves)
        return lambda observation: queue.pop(0)

    return build


@agent_builder
def worst(game):
    """The agent that always plays the worst action."""
    oracle = make_oracle(game, "closed-form" if game is NIM else "exhaustive")

    def act(observation):
        state = game.decode(observation["observation"], 0)
        values = oracle.action_values(state)
        return min(values, key=values.get)

    return act


def test_a_game_counted_by_hand():
    """3,4,5: 1:3 leaves 4,5 (won, a mistake), 3:1 leaves 4,4 (right), 2:4 leaves 4 (forced loss), 3:4 wins."""
    moves = NIM.read_moves("1:3 3:1 2:4 3:4")
    record = play_game(NIM, [scripted(moves[::2]), scripted(moves[1::2])], names=("a", "b"))
    assert record.winner == 1
    reports = judge_records([record], make_oracle(NIM))
    a, b = reports["a"].total, reports["b"].total
    assert (a.decisions, a.counted, a.optimal, a.blunders, a.chances) == (2, 2, 1, 1, 1)
    assert a.mean_regret == 1.0  # 2 and 0
    assert (b.decisions, b.optimal, b.blunders) == (2, 2, 0)
    assert b.share_optimal == 1.0
    assert reports["a"].plies[0].blunders == 1
    assert reports["a"].plies[2].regret == 0


def test_opening_moves_and_forced_moves_are_nobodys_decisions():
    moves = NIM.read_moves("1:3 2:4 3:4 3:1")
    record = play_game(NIM, [scripted(moves[2:3]), scripted(moves[3:])], names=("a", "b"), opening=moves[:2])
    reports = judge_records([record], make_oracle(NIM))
    assert reports["a"].total.decisions == 1
    assert "b" not in reports  # its only move was forced


@pytest.mark.parametrize("game", [NIM, SMALL], ids=repr)
def test_perfect_play_has_no_regret_and_the_worst_has_all_of_it(game):
    oracle = make_oracle(game, "closed-form" if game is NIM else "exhaustive")

    @agent_builder
    def perfect(game):
        def act(observation):
            state = game.decode(observation["observation"], int((observation["observation"][..., :2] != 0).sum() % 2))
            values = oracle.action_values(state)
            return max(values, key=values.get)

        return act

    result = tournament(game, {"perfect": perfect, "worst": worst if game is NIM else "random"}, games=6, seed=1)
    reports = judge_records(result.records, oracle)
    best = reports["perfect"].total
    assert best.counted == best.decisions == best.optimal > 0
    assert best.regret == 0
    assert best.blunders == 0
    other = reports["worst"].total
    assert other.mean_regret > 0
    if game is NIM:
        assert other.blunders == other.chances > 0
    assert judge_records(result.records, oracle, agent="worst").keys() == {"worst"}


def test_what_the_oracle_does_not_know_is_told_and_not_counted():
    class Half:
        def action_values(self, state):
            known = make_oracle(NIM).action_values(state)
            return known if NIM.current_player(state) == 0 else None

    records = tournament(NIM, ["random", "greedy"], games=10, seed=2).records
    totals = [report.total for report in judge_records(records, Half()).values()]
    assert sum(t.counted for t in totals) < sum(t.decisions for t in totals)
    unknown = judge_decision(NIM, NIM.initial_state(), 0, None, 0)
    assert (unknown.decisions, unknown.counted, unknown.share_counted) == (1, 0, 0.0)
    assert math.isnan(unknown.share_optimal)
    assert unknown.to_dict()["share_optimal"] is None


def test_faults_are_counted_apart():
    record = play_game(NIM, [lambda observation: 99, "random"], names=("wild", "random"))
    wild = judge_records([record], make_oracle(NIM))["wild"].total
    assert (wild.decisions, wild.faults, wild.counted) == (1, 1, 0)


def test_records_of_two_games_are_refused():
    records = [play_game(game, ["random", "random"], names=("a", "b")) for game in (NIM, SMALL)]
    with pytest.raises(ValueError, match="cannot be evaluated together"):
        judge_records(records, make_oracle(NIM))
    assert judge_records([], make_oracle(NIM)) == {}


def test_values_that_miss_the_action_are_refused():
    with pytest.raises(ValueError, match="lack action 3"):
        judge(NIM, NIM.initial_state(), 3, {0: 1.0}, 0)


def test_a_blunder_changes_the_outcome_not_only_the_value():
    state = SMALL.initial_state()
    slower = judge(SMALL, state, 1, {0: 5.0, 1: 2.0}, 0)
    assert (slower.regret, slower.is_blunder) == (3.0, False)
    assert judge(SMALL, state, 1, {0: 1.0, 1: 0.0}, 0).is_blunder
    assert judge(SMALL, state, 1, {0: 0.0, 1: -1.0}, 0).is_blunder
    assert not judge(SMALL, state, 1, {0: -1.0, 1: -4.0}, 0).is_blunder


def test_seeds_in_the_stores_decide_outcomes_at_awale():
    game = make_game("awale", pits=4, seeds=3)
    state = game.parse("1,1,1,0,0,1,0,0;15,5")
    assert outcome_for_mover(game, state, -4) == 1
    assert outcome_for_mover(game, state, -10) == 0
    assert outcome_for_mover(game, state, -11) == -1
    assert outcome_for_mover(SMALL, SMALL.initial_state(), -4) == -1


def test_phases_cut_a_game_in_three():
    assert [phase_of(NIM, ply) for ply in (0, 3, 4, 7, 8, 11, 40)] == ["opening"] * 2 + ["middle"] * 2 + ["end"] * 3
    awale = make_game("awale", pits=3, seeds=2)
    assert awale.max_plies is None
    assert 3 <= horizon(awale) <= 60


def test_sums_merge_and_errors_are_those_of_a_mean():
    parts = [Quality(counted=1, decisions=1, regret=r, regret_squared=r * r) for r in (0.0, 1.0, 5.0)]
    total = Quality()
    for part in parts:
        total.merge(part)
    assert total.mean_regret == 2.0
    assert total.regret_error == pytest.approx(math.sqrt(7 / 3))
    assert math.isnan(parts[0].regret_error)


def test_wilson_interval_against_its_published_form():
    # Newcombe (1998), table I: 81 of 263 gives 0.2553 to 0.3662; 0 of 20 gives 0 to 0.1611.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert all(math.isnan(end) for end in wilson(0, 0))
