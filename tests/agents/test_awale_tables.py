"""Awalé tables: known checksums, independent solutions, play that keeps its word, files that are refused."""

import errno
import itertools
import json
import os
import pathlib
import random
import shutil
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from board_agents.games import awale
from board_agents.games.awale import AwaleOracle, TableError, Tables, retrograde
from board_agents.games.awale import table_files as files
from board_agents.games.awale import tablebase as tables
from board_agents.games.awale import tablebase_oracle as oracle
from board_agents.games.awale.table_agent import TableAgent
from board_agents.games.awale.verify import check_level, iterate_level, verify
from board_agents.registry import make_agent, make_oracle
from board_agents.search.exhaustive import ExhaustiveOracle
from board_envs import make_game
from board_envs.games.awale import configurations as c
from board_envs.games.awale import memory
from board_envs.types import SpecError

pytest.importorskip("numba")
DATA = pathlib.Path(__file__).parents[1] / "data" / "awale"
KNOWN = json.loads((DATA / "tables.json").read_text())


def _quiet(level, share):
    pass


@pytest.fixture(scope="module")
def four():
    return Tables.solve(4, 24)


@pytest.fixture(scope="module")
def six():
    return Tables.solve(6, 9)


# -- scores -----------------------------------------------------------------------------------------------------------


def test_known_checksums_of_the_4_awale(four):
    for known in KNOWN["4"]["levels"]:
        level = four.statistics[known["n"]]
        assert f"{level.scores_crc32:08x}" == known["crc32"]
        assert (level.positive, level.zero, level.negative) == (known["positive"], known["zero"], known["negative"])
    mats = {str(level.level): level.unresolved for level in four.statistics if level.unresolved}
    assert mats == KNOWN["4"]["mat"]
    known = KNOWN["4"]["all"]
    for key in ("configurations", "positive", "zero", "negative"):
        assert sum(getattr(level, key) for level in four.statistics) == known[key]
    assert four.probe((3,) * 8) == KNOWN["4"]["initial"]


def test_known_checksums_of_the_6_awale(six):
    for known in KNOWN["6"]["levels"]:
        level = six.statistics[known["n"]]
        assert f"{level.scores_crc32:08x}" == known["crc32"]
        assert (level.positive, level.zero, level.negative, level.unresolved) == (
            known["positive"],
            known["zero"],
            known["negative"],
            known["mat"],
        )


def _scores_by_lists(pits, total):
    """Two-sided value iteration with dictionaries: nothing shared with the tables but the rules as functions."""
    scores = {}
    for seeds in range(total + 1):
        level = list(c.configurations(pits, seeds))
        moves = {one: [(c.gain(one, pit), c.rotation(c.coup(one, pit))) for pit in c.playable(one)] for one in level}
        low, high = dict.fromkeys(level, -seeds), dict.fromkeys(level, seeds)
        changed = True
        while changed:
            changed = False
            for one in level:
                for ends, others in ((low, high), (high, low)):
                    values = [g - scores[child] if g else -others[child] for g, child in moves[one]]
                    new = max(values, default=-seeds)
                    changed |= new != ends[one]
                    ends[one] = new
        for one in level:
            scores[one] = min(max(0, low[one]), high[one])
    return scores


@pytest.mark.parametrize(("pits", "total"), [(1, 9), (2, 9), (3, 5)])
def test_scores_are_those_of_value_iteration_with_lists(pits, total):
    found = Tables.solve(pits, total)
    for one, score in _scores_by_lists(pits, total).items():
        assert found.probe(one) == score


@pytest.mark.parametrize(("pits", "total"), [(1, 30), (2, 20), (3, 12), (8, 4), (2, 0)])
def test_every_size_passes_both_checks(pits, total):
    assert verify(Tables.solve(pits, total), full=True, report=_quiet) is None


def test_the_checks_see_single_errors(four):
    small = Tables.solve(4, 7)
    assert verify(small, full=True, report=_quiet) is None
    rng = random.Random(1)
    for _ in range(20):
        rank = rng.randrange(3432)
        kept = int(small.scores[7][rank])
        small.scores[7][rank] += 1
        assert check_level(small, 7, _quiet) is not None
        assert iterate_level(small, 7, _quiet) == rank
        small.scores[7][rank] = kept
    won = np.flatnonzero((small.scores[7] > 0) & (small.depths[7] > 0))
    for rank in rng.sample(won.tolist(), 20):
        kept = int(small.depths[7][rank])
        small.depths[7][rank] = 0
        assert check_level(small, 7, _quiet) == rank
        small.depths[7][rank] = kept
    assert verify(small, report=_quiet) is None


def test_sizes_that_are_not_offered():
    for pits, total, why in (
        (0, 3, "pits"),
        (9, 3, "pits"),
        (4, -1, "total"),
        (6, 40, "more than a 32-bit rank can address"),
    ):
        with pytest.raises(ValueError, match=why):
            Tables.solve(pits, total)


# -- threads and queues -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("share", "least"), [(32, 1024), (10**9, 40)])
def test_threads_and_short_queues_change_nothing(monkeypatch, four, threads, share, least):
    # Small levels are made to use every path: parallel rounds, and frontiers that do not fit the queue.
    monkeypatch.setattr(retrograde, "PARALLEL_ROUND", 25)
    monkeypatch.setattr(retrograde, "QUEUE_SHARE", share)
    monkeypatch.setattr(retrograde, "QUEUE_LEAST", least)
    again = Tables.solve(4, 12, threads=threads)
    assert again.statistics == four.statistics[:13]


def test_an_error_in_one_thread_ends_the_round(monkeypatch):
    monkeypatch.setattr(retrograde, "PARALLEL_ROUND", 25)

    def fail(*arguments):
        raise RuntimeError("no more")

    monkeypatch.setattr(retrograde, "share_round", fail)
    with pytest.raises(RuntimeError, match="no more"):
        Tables.solve(4, 9, threads=2)


# -- asking -----------------------------------------------------------------------------------------------------------


def test_probes_agree_in_every_form(four):
    game, rng = make_game("awale", pits=4, seeds=3), random.Random(3)
    rows, scores = [], []
    for _ in range(40):
        state = game.initial_state()
        while not game.is_terminal(state):
            configuration = c.configuration_of(state, 4)
            score = four.probe(state)
            assert four.probe(configuration) == four.get(state) == score
            assert score == int(four.scores[sum(configuration)][c.rank(configuration)])
            assert four.probe_depth(state) == int(four.depths[sum(configuration)][c.rank(configuration)])
            values = four.action_values(state)
            assert list(values) == game.legal_actions(state)
            assert max(values.values()) == score
            for pit, value in values.items():
                child = c.rotation(c.coup(configuration, pit))
                assert value == c.gain(configuration, pit) - four.probe(child)
            assert values[four.best_action(state)] == score
            rows.append(four.rows(state))
            scores.append(score)
            state = game.step(state, rng.choice(game.legal_actions(state)))
    array = np.array(rows, np.uint64)
    assert four.probe_many(array).tolist() == scores
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: (four.probe_many(array).tolist(), four.probe((3,) * 8)), range(16)):
            assert result == (scores, -1)


def test_beyond_the_tables(six):
    large = (2,) * 12
    assert six.get(large) is None
    assert six.get(large, 7) == 7
    assert six.action_values(large) is None
    assert six.best_action(large) is None
    for probe in (six.probe, six.probe_depth):
        with pytest.raises(TableError, match="24 seeds on the board, the tables of 6 pits a side go to 9"):
            probe(large)
    assert six.probe_many(np.array([six.rows(large)], np.uint64)).tolist() == [-128]
    assert six.best_action((0,) * 12) is None
    assert six.configuration(9, 5) == c.unrank(5, 9, 6)
    with pytest.raises(ValueError, match="8 pits, these tables have 12"):
        six.probe((1,) * 8)
    with pytest.raises(ValueError, match="uint64"):
        six.probe_many(np.zeros((2, 2)))


# -- play -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pits", "total"), [(2, 12), (3, 9), (4, 7)])
def test_the_winner_gets_the_score_against_every_defence(pits, total):
    found = Tables.solve(pits, total)
    kept, on_way = {}, set()

    def worst(one):
        """What the mover of a won configuration gets by best_action against every answer."""
        if one in kept:
            return kept[one]
        assert one not in on_way, f"a cycle through {one}"
        on_way.add(one)
        pit = found.best_action(one)
        gain, child = c.gain(one, pit), c.rotation(c.coup(one, pit))
        answers = c.playable(child)
        results = [sum(child)] if not answers else []
        for answer in answers:
            loss, grandchild = c.gain(child, answer), c.rotation(c.coup(child, answer))
            score = found.probe(grandchild)
            # From a score of 0 or less on, endless play and a mat are no worse than the score.
            results.append((worst(grandchild) if score > 0 else score) - loss)
        on_way.discard(one)
        kept[one] = gain + min(results)
        return kept[one]

    won = 0
    for seeds in range(total + 1):
        for one in c.configurations(pits, seeds):
            if found.probe(one) > 0:
                assert worst(one) == found.probe(one)
                won += 1
    assert won > 50


def test_sampled_wins_of_the_whole_4_awale(four):
    game, rng = make_game("awale", pits=4, seeds=3), random.Random(8)
    agent = TableAgent(game)
    won = 0
    for number in range(120):
        seeds = rng.randint(8, 24)
        start = c.unrank(rng.randrange(c.count(4, seeds)), seeds, 4)
        state = game.parse(",".join(map(str, start)))
        score, seat, margin = four.probe(start), state.seat, game.margin(state)
        if score <= 0 or game.is_terminal(state):
            continue
        won += 1
        while not game.is_terminal(state):
            if state.seat == seat:
                action = agent.act({"observation": game.observe(state, seat)}, state)
            elif number % 2:
                action = rng.choice(game.legal_actions(state))
            else:
                values = agent.oracle.action_values(state)
                action = rng.choice([pit for pit, value in values.items() if value == max(values.values())])
            state = game.step(state, action)
        result = (game.margin(state) - margin) * (1 - 2 * seat)
        assert result >= score
        if number % 2 == 0:
            assert result == score
    assert won > 30


def test_equal_looking_moves_that_make_no_progress():
    # Both pits look worth 2; after pit 2 the start comes back on the eighth ply.
    game = make_game("awale", pits=4, seeds=3)
    state, judge = game.parse("1,1,1,0,0,1,0,0"), make_oracle(game)
    assert isinstance(judge, AwaleOracle)
    assert judge.tables.action_values(state) == {0: 2, 1: 0, 2: 2}
    assert judge.action_values(state) == {0: 2.0, 1: 0.0, 2: 0.0}
    assert judge.best_action(state) == 0
    line = judge.line(state)
    for action in line:
        state = game.step(state, action)
    assert game.is_terminal(state)
    assert game.margin(state) == 2


@pytest.mark.parametrize(("pits", "seeds"), [(2, 2), (3, 1), (2, 3), (4, 1)])
def test_the_oracle_counts_history_as_exhaustive_search_does(pits, seeds):
    game, rng = make_game("awale", pits=pits, seeds=seeds), random.Random(5)
    judge, slow = AwaleOracle(game), ExhaustiveOracle(game, budget=1200)
    compared = history = 0
    for _ in range(60 if pits < 4 else 10):
        state = game.initial_state()
        while not game.is_terminal(state):
            values = judge.action_values(state)
            if sum(c.configuration_of(state, pits)) <= 5:
                expected = slow.action_values(state)
                if expected is not None and values is not None:
                    assert values == expected, game.format(state)
                    compared += 1
                    history += values != {pit: float(v) for pit, v in judge.tables.action_values(state).items()}
            state = game.step(state, rng.choice(game.legal_actions(state)))
        assert judge.action_values(state) == {}
        assert judge.best_action(state) is None
    assert compared > 20
    assert history or pits in (2, 4)


def test_the_oracle_elsewhere():
    abapa = AwaleOracle(make_game("awale", pits=2, seeds=1, ruleset="abapa"))
    state = abapa.game.initial_state()
    assert abapa.action_values(state) == ExhaustiveOracle(abapa.game).action_values(state)
    assert abapa.line(state)
    with pytest.raises(ValueError, match="not of nim"):
        AwaleOracle(make_game("nim"))
    assert oracle.levels_in_memory(6, 48) == 14
    assert oracle.levels_in_memory(4, 24) == 24


def test_the_oracle_is_silent_beyond_its_tables(monkeypatch, six):
    monkeypatch.setattr(oracle, "_solved", lambda pits, total: six)
    game = make_game("awale")
    judge = AwaleOracle(game)
    assert judge.action_values(game.initial_state()) is None
    assert judge.line(game.initial_state()) == []
    assert judge.action_values(game.parse("0,0,1,1,0,2,1,0,0,1,0,1")) is not None


def _minimax(found, game, state, depth):
    """What the search should find: gains on the way, table scores or 0 at the leaves, mats as 0."""
    moves = {}
    for action in game.legal_actions(state):
        after = game.step(state, action)
        sign = 1 - 2 * state.seat
        if game.is_terminal(after):
            moves[action] = sign * (game.margin(after) - game.margin(state))
            continue
        gain = sign * (game.margin(after) - game.margin(state))
        score = found.get(after)
        if score is None:
            score = 0 if depth == 1 else max(_minimax(found, game, after, depth - 1).values())
        moves[action] = gain - score
    return moves


def test_search_beyond_the_tables_is_minimax(six):
    game, rng = make_game("awale", pits=6, seeds=1), random.Random(6)
    small = Tables.solve(6, 5)
    for _ in range(12):
        state = game.initial_state()
        for _ in range(rng.randrange(12)):
            after = game.step(state, rng.choice(game.legal_actions(state)))
            if game.is_terminal(after):
                break
            state = after
        earlier = np.concatenate([memory(state), np.array([small.rows(state)], np.uint64)])
        for depth in (1, 2, 3, 4):
            values = _minimax(small, game, state, depth)
            pit, value = small.search(state, earlier, depth)
            assert value == max(values.values())
            assert values[pit] == value


def test_the_table_agent(monkeypatch, six):
    monkeypatch.setattr(oracle, "_solved", lambda pits, total: six)
    game = make_game("awale")
    agent = make_agent("table:depth=4", game)
    assert isinstance(agent, TableAgent)
    rng, results = random.Random(2), []
    for seat in (0, 1, 0, 1):
        state = game.initial_state()
        while not game.is_terminal(state):
            if state.seat == seat:
                action = agent.act({"observation": game.observe(state, seat)}, state)
            else:
                action = rng.choice(game.legal_actions(state))
            state = game.step(state, action)
        results.append(game.returns(state)[seat])
    assert sum(results) >= 3
    with pytest.raises(SpecError, match="tamale"):
        make_agent("table", make_game("awale", ruleset="abapa"))
    with pytest.raises(SpecError, match="depth"):
        make_agent("table:depth=0", game)


def test_the_agent_plays_on_when_history_is_too_long(four):
    game = make_game("awale", pits=4, seeds=3)
    agent, rng = TableAgent(game), random.Random(4)
    agent.oracle.budget = 1
    answered = 0
    for _ in range(200):
        state = game.initial_state()
        while not game.is_terminal(state):
            if agent.oracle.action_values(state) is None:
                answered += 1
                assert agent.choose(state) in game.legal_actions(state)
            state = game.step(state, rng.choice(game.legal_actions(state)))
        if answered > 5:
            break
    assert answered


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    awale.build(4, 6, folder)
    return folder


@pytest.fixture
def folder(built, tmp_path):
    shutil.copytree(built, tmp_path / "tables")
    return tmp_path / "tables"


def _level(folder, level):
    return files.path_of(files.folder_of(4, folder), level)


def test_built_tables_open(built, four):
    with awale.open(4, built) as found:
        assert found.total == 6
        assert found.statistics == four.statistics[:7]
        assert all(np.array_equal(a, b) for a, b in zip(found.depths, four.depths, strict=False))
        assert found.probe((1, 1, 1, 0, 0, 1, 0, 0)) == 2
        with pytest.raises(ValueError, match="read-only"):
            found.scores[3][0] = 1
    assert found.get((1, 1, 1, 0, 0, 1, 0, 0)) is None


def test_memory_given_back_is_read_again(built, four):
    _, scores, depths = files.read_level(_level(built, 6), 4, 6)
    for part in (scores, depths):
        files.forget(part)
    assert np.array_equal(scores, four.scores[6])
    assert np.array_equal(depths, four.depths[6])


def test_building_goes_on_where_it_was_stopped(built, tmp_path):
    class StoppedError(Exception):
        pass

    def stop(level, share):
        if level == 5 and share > 0.3:
            raise StoppedError

    with pytest.raises(StoppedError):
        awale.build(4, 6, tmp_path, report=stop)
    names = sorted(path.name for path in files.folder_of(4, tmp_path).iterdir())
    assert names == [f"level-{level:03}.table" for level in range(5)]
    before = {name: (files.folder_of(4, tmp_path) / name).stat().st_mtime_ns for name in names}
    awale.build(4, 6, tmp_path)
    for name, time in before.items():
        assert (files.folder_of(4, tmp_path) / name).stat().st_mtime_ns == time
    for level in range(7):
        assert _level(tmp_path, level).read_bytes() == _level(built, level).read_bytes()


def test_a_full_disk_leaves_no_half_of_a_level(monkeypatch, tmp_path):
    real = os.fsync
    calls = itertools.count()

    def full(descriptor):
        if next(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*level-003\.table"):
        awale.build(4, 5, tmp_path)
    assert len(list(files.folder_of(4, tmp_path).iterdir())) == 3
    assert len(awale.build(4, 5, tmp_path)) == 6


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda path: path.write_bytes(b"PK\3\4" * 2000), "no table of board_envs"),
        (lambda path: path.write_bytes(b""), "no table of board_envs"),
        (lambda path: path.write_bytes(path.read_bytes()[:1000]), "header is truncated"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "truncated or was added to"),
        (lambda path: path.write_bytes(path.read_bytes() + b"\0"), "truncated or was added to"),
        (lambda path: _flip(path, 60), "header does not match its checksum"),
        (lambda path: _flip(path, 4000), "header does not match its checksum"),
        (lambda path: _flip(path, 4096 + 5), "scores do not match their checksum"),
        (lambda path: _flip(path, -3), "depths do not match their checksum"),
        (lambda path: shutil.copy(path.with_name("level-003.table"), path), "level is 3, expected 4"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 2')), "checksum"),
        (lambda path: _other_version(path), "version is 2, expected 1"),
    ],
)
def test_damaged_files_are_refused_by_name(folder, damage, why):
    path = _level(folder, 4)
    damage(path)
    for use in (lambda: awale.open(4, folder), lambda: awale.build(4, 6, folder)):
        with pytest.raises(TableError, match=why) as caught:
            use()
        assert str(path) in str(caught.value)


def _flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def _other_version(path):
    """A whole, well-checked file of a later format."""
    import struct
    import zlib

    data = path.read_bytes()
    begin = len(files.MAGIC) + 8
    length, _ = struct.unpack("<II", data[len(files.MAGIC) : begin])
    text = data[begin : begin + length].replace(b'"version": 1', b'"version": 2')
    path.write_bytes(files.MAGIC + struct.pack("<II", length, zlib.crc32(text)) + text + data[begin + length :])


def test_tables_of_another_game_size_are_refused(folder):
    files.folder_of(4, folder).rename(files.folder_of(5, folder))
    with pytest.raises(TableError, match="pits is 4, expected 5"):
        awale.open(5, folder)


def test_missing_tables(tmp_path, folder):
    with pytest.raises(TableError, match="no tables; build them with: board-envs tables build awale --pits 4"):
        awale.open(4, tmp_path / "none")
    _level(folder, 3).unlink()
    with awale.open(4, folder) as found:
        assert found.total == 2
    with pytest.raises(TableError, match=r"level-003\.table: there is no such table"):
        awale.open(4, folder, total=5)


def test_the_default_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(files.FOLDER_VARIABLE, str(tmp_path))
    assert awale.default_folder() == tmp_path
    monkeypatch.delenv(files.FOLDER_VARIABLE)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert awale.default_folder() == tmp_path / "board_envs" / "tables"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(pathlib.Path, "home", lambda: tmp_path)
    assert awale.default_folder() == tmp_path / ".local" / "share" / "board_envs" / "tables"
    monkeypatch.setattr("sys.platform", "darwin")
    assert awale.default_folder() == tmp_path / "Library" / "Application Support" / "board_envs" / "tables"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert awale.default_folder() == tmp_path / "Local" / "board_envs" / "tables"


def test_the_oracle_takes_tables_on_disk_if_they_reach_further(monkeypatch, built, tmp_path):
    monkeypatch.setattr(oracle, "MEMORY_CONFIGURATIONS", 200)
    assert oracle.find_tables(4, 24, str(built)).total == 6
    assert oracle.find_tables(4, 24, str(tmp_path)).total == 3
    assert oracle.find_tables(4, 24, str(built)) is oracle.find_tables(4, 24, str(built))


# -- command line -----------------------------------------------------------------------------------------------------


def _run(capsys, *arguments):
    from board_agents.cli import main

    code = main(["tables", *arguments])
    return code, *capsys.readouterr()


def test_commands(capsys, tmp_path, monkeypatch):
    code, out, err = _run(capsys, "build", "awale", "--pits", "4", "--max-total", "5", "--folder", str(tmp_path))
    assert (code, err) == (0, "")
    assert "405b098e" in out
    assert "1287 configurations" in out
    monkeypatch.setenv(files.FOLDER_VARIABLE, str(tmp_path))
    code, out, _ = _run(capsys, "verify", "awale", "--full", "--json")
    expected = {"game": "awale", "pits": 4, "total": 5, "configurations": 1287, "full": True}
    assert (code, json.loads(out)) == (0, expected)
    code, out, _ = _run(capsys, "verify", "awale", "--max-total", "3")
    assert out == "165 configurations of up to 3 seeds are right: checksums, scores and depths\n"
    code, out, _ = _run(capsys, "info", "awale", "--json")
    facts = json.loads(out)
    assert (facts["bytes"], facts["levels"][3]["unresolved"]) == (6 * 4096 + 2 * 1287, 57)
    code, out, _ = _run(capsys, "info", "awale")
    assert str(tmp_path) in out.replace("\n", "")


def test_commands_tell_what_is_wrong(capsys, folder):
    for arguments, why in (
        (("build", "chess", "--max-total", "3"), "unknown table 'chess'; known tables: awale, connect-four-book"),
        (("build", "awale", "--pits", "9", "--max-total", "3"), "pits must be an integer from 1 to 8"),
        (("verify", "awale", "--folder", str(folder / "none")), "no tables; build them"),
        (("info", "awale", "--pits", "3", "--folder", str(folder)), "no tables; build them"),
    ):
        code, out, err = _run(capsys, *arguments)
        assert (code, out) == (2, "")
        assert why in err
    _flip(_level(folder, 5), -1)
    code, _, err = _run(capsys, "verify", "awale", "--folder", str(folder))
    assert code == 2
    assert "level-005.table: the depths do not match" in err


def test_verify_finds_a_wrong_score_behind_right_checksums(capsys, folder):
    found = awale.open(4, folder)
    scores, depths = found.scores[6].copy(), found.depths[6].copy()
    found.close()
    scores[100] += 1
    files.write_level(_level(folder, 6), 4, files.Counter(6), [scores], [depths])
    code, _, err = _run(capsys, "verify", "awale", "--folder", str(folder))
    assert code == 2
    assert "level 6, rank" in err
    assert "is wrong" in err


def test_report_is_told_of_every_level(tmp_path):
    told = []
    tables.build(3, 4, tmp_path, report=lambda level, share: told.append((level, share)))
    assert {level for level, share in told if share == 1.0} == set(range(5))
    assert told == sorted(told)


def test_analyse_tells_of_a_damaged_table_in_one_line(capsys, folder, monkeypatch):
    from board_agents.cli import main

    monkeypatch.setattr(oracle, "MEMORY_CONFIGURATIONS", 200)
    monkeypatch.setenv(files.FOLDER_VARIABLE, str(folder))
    arguments = ["analyse", "awale", "-p", "pits=4", "-p", "seeds=3", "1,1,1,0,0,1,0,0"]
    assert main(arguments) == 0
    assert "principal variation: 0 " in capsys.readouterr().out
    _flip(_level(folder, 2), -1)
    os.utime(_level(folder, 6))
    assert main(arguments) == 2
    assert "level-002.table: the depths do not match" in capsys.readouterr().err


@pytest.mark.parametrize("text", [b"[", b"[1]", b'{"version": 1', b"\xff\xff", b"[" * 4000])
def test_a_header_with_a_right_checksum_that_is_no_object_is_refused(tmp_path, text):
    tables.build(1, 3, tmp_path)
    path = files.path_of(files.folder_of(1, tmp_path), 3)
    head = files.MAGIC + struct.pack("<II", len(text), zlib.crc32(text)) + text
    path.write_bytes(head.ljust(files.HEADER, b"\0") + path.read_bytes()[files.HEADER :])
    with pytest.raises(TableError, match=r"level-003\.table: the header is no JSON"):
        Tables.open(1, tmp_path, total=3)


@pytest.mark.parametrize("key", sorted(files.LevelStatistics.__dataclass_fields__))
@pytest.mark.parametrize("value", [None, "4", 1.5, True])
def test_a_header_with_a_right_checksum_and_wrong_facts_is_refused(tmp_path, key, value):
    tables.build(1, 3, tmp_path)
    path = files.path_of(files.folder_of(1, tmp_path), 3)
    data = path.read_bytes()
    begin = len(files.MAGIC) + 8
    facts = json.loads(data[begin : files.HEADER].rstrip(b"\0")) | {key: value}
    text = json.dumps(facts).encode()
    head = files.MAGIC + struct.pack("<II", len(text), zlib.crc32(text)) + text
    path.write_bytes(head.ljust(files.HEADER, b"\0") + data[files.HEADER :])
    with pytest.raises(TableError, match=f"{key} is"):
        Tables.open(1, tmp_path, total=3)
