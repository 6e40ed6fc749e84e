"""SUPPORT: what the agents' package knows of a game stands in the game's own folder, one record a game."""

import dataclasses
import subprocess
import sys
import typing
from importlib.metadata import EntryPoint

import pytest

import board_envs
from board_agents import make_agent, make_oracle, support
from board_agents.registry import agent_names, default_oracle, make_estimator, oracle_names
from board_agents.search.evaluations import evaluation_names, named_evaluation, win_value
from board_agents.support import (
    GROUP,
    OpenSpielForm,
    Support,
    TablesReport,
    Unit,
    load,
    outside_form,
    own_support,
    support_of,
)
from board_envs.registry import snake_name
from board_envs.types import MissingExtraError, SpecError

STRANGER = "board_agents_stranger"


def references(record):
    yield from record.oracles.values()
    yield from record.agents.values()
    yield from record.evaluations.values()
    yield from record.outside.values()
    yield from record.tables.values()
    for reference in (record.win_value, record.final_value, record.plies, record.history_key):
        if reference is not None:
            yield reference


def test_records_in_our_package_are_of_our_games():
    assert set(own_support()) <= {snake_name(name) for name in board_envs.GAMES}


@pytest.mark.parametrize("name", board_envs.GAMES)
def test_what_a_record_names_exists_in_the_games_own_folder_or_in_search(name):
    for reference in references(support_of(name)):
        assert callable(load(reference)), reference
        assert reference.startswith((f"board_agents.games.{snake_name(name)}.", "board_agents.search."))


@pytest.mark.parametrize("name", board_envs.GAMES)
def test_an_estimator_answers_in_the_unit_of_the_oracle(name):
    record = support_of(name)
    if record.estimator is None:
        assert make_estimator(board_envs.make_game(name)) is None
    else:
        assert record.estimator.partition(":")[0] in agent_names()


def test_records_are_read_without_numba_and_without_what_they_name():
    code = (
        "import sys\nfrom board_agents.support import own_support\nown_support()\n"
        "assert 'numba' not in sys.modules, 'numba'\n"
        "late = [m for m in sys.modules if m.endswith(('_form', 'grid_evaluation', 'level_agent'))]\n"
        "assert not late, late"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_units_say_what_a_value_means():
    seeds = support_of("awale").unit
    assert seeds.describe(1) == "1 seed more than the other from here"
    assert seeds.describe(-3) == "3 seeds less than the other from here"
    assert seeds.describe(0) == "equal from here"
    assert support_of("connect-four").unit.describe(-2, plies=38) == "loses in 38 plies"
    assert support_of("nim").unit.describe(1) == "wins"
    assert Unit("discs", "disc").describe(4) == "wins by 4"


@pytest.fixture
def install(monkeypatch):
    """Return a function that declares a record for a game, as an installed package would."""
    declared = []

    def entry_points(group, name=None):
        return [point for point in declared if point.group == group and name in (None, point.name)]

    def add(name, record, target=STRANGER):
        module = type(sys)(target)
        if isinstance(record, Exception):
            module.__getattr__ = lambda _: (_ for _ in ()).throw(record)
        else:
            module.SUPPORT = record
        monkeypatch.setitem(sys.modules, target, module)
        declared.append(EntryPoint(name, f"{target}:SUPPORT", GROUP))

    monkeypatch.setattr(support, "entry_points", entry_points)
    support_of.cache_clear()
    yield add
    support_of.cache_clear()


def test_a_game_without_a_record_has_the_margin_and_the_exhaustive_oracle(stranger):
    assert support_of("stranger") == Support()
    assert evaluation_names(stranger) == ["margin", "zero"]
    assert win_value(stranger).base == 10_000
    assert default_oracle("stranger") == "exhaustive"
    state = stranger.parse("3,1")
    values = make_oracle(stranger).action_values(state)
    # Nim's closed form: 3 ^ 1 = 2; the one winning move leaves equal heaps.
    assert {stranger.action_to_text(state, action) for action, value in values.items() if value == 1} == {"1:2"}
    assert make_agent("alpha-beta:depth=4", stranger).act({}, state) in values


def test_another_packages_record_is_read_like_ours(stranger, install):
    install(
        "stranger",
        Support(
            oracles={"strangers": "board_agents.search.exhaustive:ExhaustiveOracle"},
            agents={"strange": "board_agents.players.random_agent:RandomAgent", "greedy": "nowhere:Greedy"},
            evaluations={"nothing": "board_agents.search.evaluations:zero"},
            unit=Unit("sticks", "stick"),
        ),
    )
    assert default_oracle("stranger") == "strangers"
    assert make_oracle(stranger).unit == "sticks"
    assert type(make_agent("strange", stranger)).__name__ == "RandomAgent"
    assert type(make_agent("greedy", stranger)).__name__ == "GreedyAgent"
    assert "strange" in agent_names("stranger")
    assert "strange" not in agent_names()
    with pytest.raises(SpecError, match="did you mean 'strange'"):
        make_agent("strang", stranger)
    assert evaluation_names(stranger) == ["nothing", "margin", "zero"]
    assert named_evaluation(stranger, "nothing")(stranger.initial_state()) == 0


def test_a_record_is_loaded_when_its_game_is_used_and_a_broken_one_is_named(stranger, install):
    install("stranger", RuntimeError("broken inside"))
    assert make_agent("greedy", board_envs.make_game("nim"))
    assert "exhaustive" in oracle_names()
    with pytest.raises(SpecError, match=rf"stranger = {STRANGER}:SUPPORT .*RuntimeError: broken inside"):
        make_oracle(stranger)


def test_a_record_that_needs_an_extra_says_which(stranger, install):
    install("stranger", MissingExtraError("the stranger", "fast"))
    with pytest.raises(MissingExtraError, match="fast"):
        support_of("stranger")


def test_what_is_no_record_is_refused(install):
    install("stranger", {"oracles": {}})
    with pytest.raises(SpecError, match="not a Support record"):
        support_of("stranger")


class Shelf:
    """Tables of another package."""

    about = "values of a few sticks"
    options: typing.ClassVar = {"sticks": None, "rows": 2}

    def build(self, options, folder, threads, progress):
        return TablesReport({"built": dict(options)}, f"{options['sticks']} sticks in {options['rows']} rows")


def test_another_packages_tables_are_built_by_the_command(install, capsys):
    pytest.importorskip("typer")
    from board_agents.cli import main

    install("my_sticks", Support(tables={"shelf": f"{__name__}:Shelf", "awale": "nowhere:Nothing"}))
    assert main(["tables", "build", "shelf", "-p", "sticks=5", "--json"]) == 0
    assert '"sticks": 5' in capsys.readouterr().out
    install("broken", RuntimeError("broken inside"), STRANGER + "_b")
    for arguments, told in [
        (["build", "shelf"], "tables build shelf needs --param sticks=..."),
        (["build", "shelf", "-p", "sticks=many"], "--param must be KEY=NUMBER, as in size=4, not 'sticks=many'"),
        (["build", "shelf", "--pits", "2"], "has no option --pits; options: --param sticks=..., --param rows=..."),
        (["info", "shelf"], "verify and info do not apply to it"),
        (["build", "awale"], "needs --max-total"),
    ]:
        assert main(["tables", *arguments]) == 2
        assert told in capsys.readouterr().err


def test_an_unknown_table_is_answered_with_all_names_and_what_does_not_load(install, capsys):
    pytest.importorskip("typer")
    from board_agents.cli import main

    install("broken", RuntimeError("broken inside"))
    assert main(["tables", "build", "awales"]) == 2
    told = capsys.readouterr().err
    assert "unknown table 'awales' (did you mean 'awale'?)" in told
    assert "RuntimeError: broken inside" in told


def test_underscores_and_hyphens_are_one_name(install):
    install("my_sticks", Support(evaluations={"nothing": "board_agents.search.evaluations:zero"}))
    assert support_of("my-sticks").evaluations


def test_ours_win_a_clash_of_names(install):
    install("nim", Support(oracles={"theirs": "nowhere:Nothing"}))
    assert default_oracle("nim") == "closed-form"


def test_forms_of_outside_programs():
    assert outside_form(board_envs.make_game("reversi"), "open-spiel") == OpenSpielForm("othello", skip=64)
    assert outside_form(board_envs.make_game("reversi", size=6), "open-spiel") is None
    assert outside_form(board_envs.make_game("reversi"), "no such program") is None


@pytest.fixture
def stranger():
    """Nim under a name that no record has."""

    return dataclasses.replace(board_envs.make_game("nim", heaps=(3, 5)), name="stranger")
