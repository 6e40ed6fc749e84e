"""The modules' names in version 0.1.0 still import, with a warning; nothing in the project uses them."""

import ast
import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import board_agents
import board_envs
from board_envs import _moved

ROOT = Path(__file__).parent.parent
INSIDE = {
    "board_agents.search": "interpreted",
    "board_agents.arena.play": "decisions",
    "board_agents.arena.records": "game_record",
    "board_agents.arena.suites": "suite_files",
    "board_agents.arena.report": "page",
}
"""Packages of today whose name was a module's -> the module that has its content."""
NAMED = {  # what README, docs and examples of version 0.1.0 import
    "board_agents.solvers.reversi.thinking": "MEASURED",
    "board_agents.solvers.reversi.patterns": "shared",
    "board_agents.solvers.reversi.learning": "",
    "board_agents.solvers.reversi.evaluation": "PHASES",
    "board_agents.solvers.awale": "Tables",
    "board_agents.files": "write_whole",
    "board_agents.connect_four_tree": "build_tree",
    "board_agents.arena.wthor": "",
    "board_agents.arena.store": "Store",
    "board_agents.arena.sprt": "PairCounter",
    "board_agents.arena.queries": "deeper_than",
    "board_agents.arena.quality": "judge_records",
    "board_agents.arena.export": "read_transcript",
    "board_agents.evaluations": "square_weights",
    "board_agents.solvers.connect_four.book": "build_book",
    "board_envs.picture": "Rectangle",
    "board_envs.render": "svg",
}
OLD = dict(_moved._TABLE)


@pytest.fixture
def forgotten():
    """Old modules as they are in a fresh process."""

    def forget():
        for name in OLD:
            sys.modules.pop(name, None)

    forget()
    yield
    forget()


def import_old(name):
    """Return a module and the texts of the warnings, which its parents give, too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = importlib.import_module(name)
    assert all(warning.category is DeprecationWarning for warning in caught)
    return module, [str(warning.message) for warning in caught]


def test_the_names_that_were_documented_are_kept(forgotten):
    for module, name in NAMED.items():
        found, warned = import_old(module)
        assert any(text.startswith(f"the module {module} is now ") for text in warned)
        assert not name or getattr(found, name) is not None
    assert len(OLD) > 60


@pytest.mark.parametrize("old", OLD)
def test_an_old_name_warns_and_has_the_same_objects(old, forgotten):
    new = importlib.import_module(OLD[old][0])
    module, warned = import_old(old)
    assert f"the module {old} is now {OLD[old][0]}" in warned
    public = [name for name in vars(new) if not name.startswith("_")]
    assert all(getattr(module, name) is getattr(new, name) for name in public)
    assert set(public) <= set(dir(module))
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = module.no_such_name


@pytest.mark.parametrize("package", INSIDE)
def test_a_package_that_was_a_module_has_its_names(package):
    new = importlib.import_module(f"{package}.{INSIDE[package]}")
    defined = [
        name
        for name, value in vars(new).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == new.__name__
    ]
    assert defined
    old = importlib.import_module(package)
    for name in defined:
        with pytest.warns(DeprecationWarning, match=re.escape(f"{package}.{name} is now {new.__name__}.{name}")):
            assert getattr(old, name) is getattr(new, name)
    with pytest.raises(AttributeError):
        _ = old.no_such_name


def test_the_warning_points_to_the_import_and_star_imports_work(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("\nfrom board_agents.solvers.nim import *\nprint(NimOracle.__module__)\n", encoding="utf-8")
    command = [sys.executable, "-W", "always::DeprecationWarning", str(program)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == "board_agents.games.nim.closed_form\n"
    assert "program.py:2: DeprecationWarning: the module board_agents.solvers.nim is now" in ended.stderr


def test_an_old_name_does_not_hide_a_new_one(forgotten):
    import_old("board_agents.solvers.nim")
    assert importlib.import_module("board_agents.games").nim.SUPPORT
    assert not {"solvers", "minimax"} & set(board_agents.__all__)
    assert not {"picture", "render"} & set(board_envs.__all__)


OLD_NAME = re.compile(rf"({'|'.join(map(re.escape, OLD))})\b(?!/)")


def tracked(*patterns):
    files = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if files.returncode:
        pytest.skip("no git checkout")
    return [ROOT / name for name in files.stdout.split() if (ROOT / name).exists()]


def imported(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_nothing_in_the_project_uses_an_old_name():
    used = []
    for path in tracked("*.py"):
        for name in imported(path.read_text(encoding="utf-8")):
            package = name.rpartition(".")[0]
            if name in OLD or (package in INSIDE and not exists(name)):
                used.append(f"{path.relative_to(ROOT)}: {name}")
    here = {Path(__file__), ROOT / "agents" / "board_agents" / "_moved.py", ROOT / "board_envs" / "__init__.py"}
    for path in tracked("*.py", "*.md", "*.toml", "*.yml"):
        if path not in here and path.name != "CHANGELOG.md":
            names = re.findall(r"\bboard_(?:agents|envs)(?:\.\w+)+", path.read_text(encoding="utf-8"))
            used += [f"{path.relative_to(ROOT)}: {name}" for name in names if OLD_NAME.match(name)]
    assert not used, "\n".join(used)


def exists(module):
    return importlib.util.find_spec(module) is not None
