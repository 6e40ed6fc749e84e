"""Games of other packages: found by their metadata, imported when they are used, and then games like ours."""

import copy
import dataclasses
import functools
import pickle
import subprocess
import sys
import types
from importlib.metadata import EntryPoint

import gymnasium
import numpy as np
import pettingzoo
import pytest

import board_envs
from board_envs import registry
from board_envs._jit import have_numba
from board_envs.authoring import common_forms, compiled_as
from board_envs.envs.vector import BoardVectorEnv
from board_envs.pictures.shapes import Label, Picture
from board_envs.pictures.svg import picture, svg
from board_envs.registration import gymnasium_id, pettingzoo_id, register
from board_envs.registry import GROUP, game_drawing, game_module, game_names, game_parameters, make_game
from board_envs.testing import check_env, check_game, check_vector
from board_envs.types import Rules

MODULE = "board_envs_somebody_elses"


def sticks(name="sticks"):
    """Return a module with a game: Nim of one heap under another name, made anew at each call."""
    module = types.ModuleType(MODULE)
    module.make = lambda heap=3: dataclasses.replace(
        make_game("nim", heaps=(heap,)), name=name, parameters={"heap": heap}, outside_forms=common_forms
    )
    return module


@pytest.fixture
def install(monkeypatch):
    """Return a function that declares a game as an installed package's metadata would, and can forbid its import."""
    declared = []

    def entry_points(group):
        return [point for point in declared if point.group == group]

    def add(name, module, target=MODULE):
        if module is not None:
            monkeypatch.setitem(sys.modules, target, module)
        declared.append(EntryPoint(name, target, GROUP))
        registry._other_games.cache_clear()

    before = dict(gymnasium.registry), dict(getattr(pettingzoo, "aec_registry", {}))
    monkeypatch.setattr(registry, "entry_points", entry_points)
    monkeypatch.setattr(registry, "_MADE", {})
    registry._other_games.cache_clear()
    yield add
    registry._other_games.cache_clear()
    for now, then in zip((gymnasium.registry, getattr(pettingzoo, "aec_registry", {})), before, strict=True):
        for key in set(now) - set(then):
            del now[key]


@pytest.fixture
def game(install):
    install("sticks", sticks())
    register()
    return make_game("sticks", heap=4)


def test_it_is_made_by_name_and_the_same_parameters_give_the_same_object(game):
    assert game_names() == [*board_envs.GAMES, "sticks"]
    assert game_parameters("sticks") == {"heap": 3}
    assert make_game("sticks", heap=4) is game
    assert make_game("sticks") is not game
    with pytest.raises(TypeError, match="'heaps'; it has: heap"):
        make_game("sticks", heaps=4)


def test_it_survives_copies_and_pickles(game):
    assert copy.deepcopy(game) is game
    assert pickle.loads(pickle.dumps(game)) is game
    env = board_envs.raw_env("sticks", heap=4)
    env.reset(seed=1)
    env.step(0)
    again = pickle.loads(pickle.dumps(env))
    assert again.game is game
    assert again.last()[0]["observation"].tolist() == env.last()[0]["observation"].tolist()


def test_it_is_in_both_registries(game):
    env = gymnasium.make(gymnasium_id("sticks"), heap=4)
    assert gymnasium_id("sticks") == "board_envs/Sticks-v0"
    assert env.unwrapped.game is game
    check_env(lambda **kwargs: gymnasium.make(gymnasium_id("sticks"), **kwargs))
    if have_numba():
        vector = gymnasium.make_vec(gymnasium_id("sticks"), num_envs=3, heap=4)
        assert isinstance(vector.unwrapped, BoardVectorEnv)
        observations, _ = vector.reset(seed=0)
        assert len(observations) == 3
    if hasattr(pettingzoo, "register"):
        made = pettingzoo.make("aec", pettingzoo_id("sticks"), heap=4)
        made.reset()
        assert made.unwrapped.game is game
    wrapped = board_envs.env("sticks", heap=4)
    wrapped.reset()
    assert wrapped.metadata["name"] == "sticks_v0"
    wrapped.step(int(np.flatnonzero(wrapped.last()[0]["action_mask"])[-1]))
    assert wrapped.terminations == {"player_0": True, "player_1": True}


def test_its_drawing_is_a_function_of_its_module(game):
    module = game_module("sticks")
    module.picture = lambda game, state: game_drawing("nim")(make_game("nim", heaps=(4,)), state)
    assert svg(game, game.initial_state()) == svg(make_game("nim", heaps=(4,)), game.parse("4"))


def test_without_a_drawing_its_text_is_the_picture(game):
    drawn = picture(game, game.parse("3"))
    # "1: ||| 3" and "the last object wins": one label a character, in its line and column.
    assert game.draw(game.parse("3")).splitlines() == ["1: ||| 3", "the last object wins"]
    by_line = {}
    for label in sorted(drawn.shapes, key=lambda label: (label.y, label.x)):
        by_line[label.y] = by_line.get(label.y, "") + label.text
    assert list(by_line.values()) == ["1:|||3", "thelastobjectwins"]
    bars = [label.x for label in drawn.shapes if label.text == "|"]
    assert bars == pytest.approx([1.2, 1.5, 1.8])
    assert all(0 < label.x < drawn.width and 0 < label.y < drawn.height for label in drawn.shapes)


def test_a_game_is_added_while_the_program_runs(install, monkeypatch):
    monkeypatch.setattr(registry, "_ADDED", {})
    module = sticks()
    board_envs.add_game("sticks", module)
    board_envs.add_game("sticks", module)
    assert game_names() == [*board_envs.GAMES, "sticks"]
    game = make_game("sticks", heap=2)
    assert pickle.loads(pickle.dumps(game)) is game
    assert gymnasium.make("board_envs/Sticks-v0", heap=2).unwrapped.game is game
    for name, given, message in [
        ("sticks", sticks(), "a game 'sticks' is already registered"),
        ("nim", module, "a game 'nim' is already registered"),
        ("Sticks", module, "invalid name of a game: 'Sticks'; a name is words"),
        ("other", types.ModuleType("x"), r"has no function make"),
    ]:
        with pytest.raises(ValueError, match=message):
            board_envs.add_game(name, given)
    assert game_names() == [*board_envs.GAMES, "sticks"]


def test_the_conformance_checks_pass(game):
    lines = []
    check_game("sticks", lines.append)
    for check in ("rules", "copies", "forms", "drawings", "environments", "PettingZoo's checkers"):
        assert f"make_game('sticks', heap=3): {check}" in lines


def broken(**changed):
    """Return a module with the game, some of its rules or facts changed."""
    module = sticks()
    make = functools.cache(module.make)
    rules = {key: changed.pop(key) for key in list(changed) if key in Rules.__dataclass_fields__}
    module.make = functools.cache(
        lambda heap=3: dataclasses.replace(make(heap), rules=dataclasses.replace(make(heap).rules, **rules), **changed)
    )
    return module


def one_more(state):
    return 1 + int(state.heaps)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (broken(count=one_more), "rules: count is 4, the mask has 3"),
        (broken(decoder=lambda observation, seat: make_game("nim", heaps=(3,)).parse("2")), "rules: decode gives 2 0"),
        (broken(outside_forms=lambda game: [dataclasses.replace(common_forms(game)[1], example="1. 9:9")]), "forms: "),
    ],
)
def test_the_conformance_checks_name_what_is_broken(install, module, message):
    install("sticks", module)
    register()
    with pytest.raises(AssertionError, match=rf"^make_game\('sticks', heap=3\): {message}"):
        check_game("sticks")


def test_pictures_outside_their_area_are_found(game, monkeypatch):
    module = game_module("sticks")
    module.picture = lambda game, state: Picture(1, 1, (Label(2, 0.5, "x"),))
    with pytest.raises(AssertionError, match="drawings: Label.*is outside of 1 x 1"):
        check_game("sticks")


def test_rules_that_play_otherwise_when_compiled_are_found(install):
    pytest.importorskip("numba")

    def five(state):
        return 5

    @compiled_as(five)
    def margin(state):
        return 0

    install("sticks", broken(margin=margin))
    register()
    with pytest.raises(AssertionError, match=r"reset\[1\]\['margin'\]: vectorised \[5, 5.*scalar \[0, 0"):
        check_vector(make_game("sticks"))


def test_nothing_is_imported_before_it_is_used_and_a_broken_package_is_named(install):
    install("broken-game", None, "no_such_module_anywhere")
    register()
    assert "board_envs/BrokenGame-v0" in gymnasium.registry
    assert make_game("nim")
    with pytest.raises(ValueError, match=r"game 'broken-game' of .*no_such_module_anywhere.*ModuleNotFoundError"):
        make_game("broken_game")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (types.ModuleType(MODULE), r"has no function make\(\*\*parameters\)"),
        (sticks(name="Sticks"), "must return a Game of this name"),
    ],
)
def test_what_is_no_game_is_refused(install, module, message):
    install("sticks", module)
    with pytest.raises(ValueError, match=message):
        make_game("sticks")


def test_parameters_need_defaults(install):
    module = sticks()
    module.make = lambda heap: None
    install("sticks", module)
    with pytest.raises(ValueError, match="its parameter heap must have a default"):
        make_game("sticks")


def test_parameters_are_hashable(install):
    module = sticks()
    module.make = lambda heap=3: dataclasses.replace(
        make_game("nim", heaps=(heap,)), name="sticks", parameters={"heap": [heap]}
    )
    install("sticks", module)
    with pytest.raises(ValueError, match=r"'sticks': the values of Game.parameters must be hashable.*\[3\]"):
        make_game("sticks")


def test_ours_wins_a_clash_with_a_warning(install):
    install("connect_four", sticks())
    with pytest.warns(UserWarning, match="declares a game 'connect-four'; the one of board_envs is used"):
        assert game_names() == list(board_envs.GAMES)
    with pytest.warns(UserWarning, match="declares a game 'connect-four'"):
        assert make_game("connect-four").rules is not None


def test_a_clash_is_silent_until_its_name_is_used(install):
    install("connect_four", sticks())
    install("Sticks!", sticks())
    register()  # as `import board_envs` does
    assert make_game("nim").name == "nim"


def test_of_two_packages_one_is_taken_with_a_warning(install):
    install("sticks", sticks())
    install("sticks", sticks(), MODULE + "_b")
    register()
    with pytest.warns(UserWarning, match="declares a game 'sticks'; the one of"):
        assert make_game("sticks").name == "sticks"


def test_a_name_that_ids_cannot_hold_is_left_out_with_a_warning(install):
    install("Sticks!", sticks())
    with pytest.warns(UserWarning, match=r"'Sticks!': a name is words of small letters"):
        assert "Sticks!" not in game_names()
    with pytest.warns(UserWarning, match="it is left out"), pytest.raises(ValueError, match="unknown game 'Sticks!'"):
        make_game("Sticks!")


TYPED = """\
from board_envs.connect_four_v0 import {name}
import board_envs

{name}_made = {name}(rows=4, columns=5, connect=3)
{name}_made.reset(seed=1)
board_envs.reversi_v0.raw_env().game.initial_state()
"""


def test_type_checkers_find_the_modules_of_games(tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(TYPED.format(name="env") + TYPED.format(name="raw_env"), encoding="utf-8")
    wrong.write_text(TYPED.format(name="evn"), encoding="utf-8")
    options = ["--strict", "--config-file", "", "--cache-dir", str(tmp_path / "cache"), "--follow-untyped-imports"]
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(right), str(wrong)], capture_output=True, text=True, check=False
    )
    (error,) = (line for line in ended.stdout.splitlines() if ": error:" in line)
    assert "wrong.py:1" in error
    assert 'Module "board_envs.connect_four_v0" has no attribute "evn"' in error
