import subprocess
import sys
from collections import Counter
from itertools import combinations

import pytest

from board_agents.arena import Ending, make_openings, plan, standings, summarise, tournament
from board_agents.arena.statistics.tally import distinct_games
from board_envs import make_game
from board_envs.types import SpecError

NIM, FOUR = make_game("nim"), make_game("connect-four")


@pytest.mark.parametrize("game", [NIM, FOUR, make_game("connect-four", rows=4, columns=5, connect=3)])
def test_openings_differ_even_in_the_mirror_and_leave_the_game_open(game):
    openings = make_openings(game, 60, seed=7)
    seen = set()
    for opening in openings:
        state = game.initial_state()
        for action in opening:
            state = game.step(state, action)
        assert not game.is_terminal(state)
        seat = game.current_player(state)
        images = {symmetry.observation(game.observe(state, seat)).tobytes() for symmetry in game.symmetries()}
        assert not images & seen
        seen |= images


def test_a_shorter_list_of_openings_begins_the_longer_one():
    assert make_openings(FOUR, 40, seed=3)[:11] == make_openings(FOUR, 11, seed=3)
    assert make_openings(FOUR, 11, seed=3) != make_openings(FOUR, 11, seed=4)


def test_openings_of_a_given_length():
    assert make_openings(FOUR, 3, seed=0, plies=0) == [(), (), ()]
    assert {len(opening) for opening in make_openings(FOUR, 50, seed=0, plies=3)} == {3}
    with pytest.raises(ValueError, match="-1"):
        make_openings(FOUR, 3, seed=0, plies=-1)


def test_openings_recur_only_where_the_game_is_too_small():
    tiny = make_game("nim", heaps=(2,))
    assert set(make_openings(tiny, 5, seed=0)) <= {(), (0,)}
    with pytest.raises(ValueError, match="finished"):
        make_openings(tiny, 1, seed=0, start="0 1")


def test_every_opening_is_played_from_both_seats():
    tasks = plan(NIM, ["a", "b", "c"], 6, seed=1)
    assert len(tasks) == 3 * 6
    for a, b in combinations("abc", 2):
        games = [task for task in tasks if set(task.agents) == {a, b}]
        assert Counter(task.agents for task in games) == {(a, b): 3, (b, a): 3}
        for number in range(3):
            both = [task for task in games if task.opening_number == number]
            assert len({task.opening for task in both}) == 1
            assert {task.agents for task in both} == {(a, b), (b, a)}
    assert len({seed for task in tasks for seed in task.seeds}) == 2 * len(tasks)
    assert len({task.key for task in tasks}) == len(tasks)


def test_an_odd_number_of_games_leaves_one_opening_half_played():
    result = tournament(NIM, ["random", "nim-xor"], 5, seed=1)
    (pair,) = result.pairs
    assert (pair.games, pair.half_pairs) == (5, 1)
    assert (pair.seats[0].decided, pair.seats[1].decided) == (3, 2)


@pytest.mark.parametrize(("names", "games"), [(["a"], 2), (["a", "a"], 2), (["a", "b"], 0), (["a", "b"], -4)])
def test_plans_that_make_no_sense_are_refused(names, games):
    with pytest.raises(ValueError, match=r"agents|games?"):
        plan(NIM, names, games)


def test_deterministic_agents_do_not_replay_one_game():
    openings = tournament(FOUR, ["greedy", "alpha-beta:depth=2"], 40, seed=2)
    assert openings.distinct >= 36
    same = tournament(FOUR, ["greedy", "alpha-beta:depth=2"], 40, seed=2, opening_plies=0)
    assert same.distinct == 2
    assert same.pairs[0].distinct == 2


def test_tallies_are_those_of_the_records():
    result = tournament(FOUR, ["random", "greedy", "alpha-beta:depth=1"], 134, seed=4)
    assert len(result.records) == 3 * 134
    counts = Counter()
    for record in result.records:
        states = record.replay()
        rewards = FOUR.returns(states[-1])
        for seat in (0, 1):
            counts[record.agents[seat], seat, rewards[seat]] += 1
    for standing in result.standings:
        for seat, tally in enumerate(standing.seats):
            found = [counts[standing.name, seat, reward] for reward in (1, 0, -1)]
            assert [tally.wins, tally.draws, tally.losses] == found
    again = summarise(result.records[::-1], [standing.name for standing in result.standings])
    assert again.standings == result.standings
    assert again.pairs == result.pairs
    assert again.first_mover == result.first_mover
    assert again.distinct == result.distinct == distinct_games(result.records)
    assert sum(tally.wins for standing in result.standings for tally in standing.seats) == sum(
        tally.losses for standing in result.standings for tally in standing.seats
    )


def test_faults_and_unfinished_games_are_told_apart():
    agents = {"random": "random", "crasher": lambda observation: 1 / 0}
    result = tournament(FOUR, agents, 6)
    crasher = result.standings[1]
    assert crasher.faults == {Ending.CRASH: 6}
    assert (crasher.total.losses, crasher.total.wins) == (6, 0)
    assert not result.standings[0].faults
    capped = tournament(FOUR, ["random", "random"], 4, max_plies=5)
    assert [standing.total.unfinished for standing in capped.standings] == [4, 4]
    assert [standing.total.decided for standing in capped.standings] == [0, 0]
    assert [entry.games for entry in capped.ratings.agents] == [0, 0]


def test_an_agent_entered_twice_meets_itself_under_two_names():
    result = tournament(FOUR, ["random", "random"], 20)
    assert [standing.name for standing in result.standings] == ["random", "random#2"]
    assert result.distinct == 20


def test_another_entrant_leaves_the_other_games_as_they_were():
    two = tournament(NIM, ["random", "greedy"], 8, seed=9)
    three = tournament(NIM, ["random", "greedy", "nim-xor"], 8, seed=9)
    kept = [record for record in three.records if set(record.agents) == {"random", "greedy"}]
    assert kept == list(two.records)


def test_a_run_broken_off_continues_without_replaying_or_counting_twice():
    whole = tournament(NIM, ["random", "greedy", "nim-xor"], 10, seed=3)
    played = []
    rest = tournament(
        NIM, ["random", "greedy", "nim-xor"], 10, seed=3, done=whole.records[:13] * 2, on_game=played.append
    )
    assert rest.records == whole.records
    assert all(now is before for now, before in zip(rest.records[:13], whole.records[:13], strict=True))
    assert rest.standings == whole.standings
    assert len(played) == len(whole.records)
    longer = tournament(NIM, ["random", "greedy", "nim-xor"], 14, seed=3, done=whole.records)
    assert {record.key for record in whole.records} <= {record.key for record in longer.records}


def test_an_impossible_agent_is_told_before_the_first_game():
    played = []
    with pytest.raises(SpecError, match="nim-xor"):
        tournament(FOUR, ["random", "nim-xor"], 2, on_game=played.append)
    assert not played


def test_the_same_seed_gives_the_same_games_in_every_process():
    code = (
        "from board_envs import make_game; from board_agents.arena import tournament;"
        "r = tournament(make_game('connect-four'), ['random', 'alpha-beta:depth=2,ties=random'], 6, seed=11);"
        "print([record.actions for record in r.records])"
    )
    texts = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    here = tournament(FOUR, ["random", "alpha-beta:depth=2,ties=random"], 6, seed=11)
    assert texts == {f"{[record.actions for record in here.records]}\n"}
    assert standings(here.records) == list(here.standings)
