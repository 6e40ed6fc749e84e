"""Everything that the documentation and the examples show is run as it stands."""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import board_envs
from board_agents.cli import main
from board_agents.registry import agent_names, oracle_names
from board_envs.registry import GAMES, game_parameters

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "RELEASING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^(?:<!-- (?P<mark>\w+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = {"fast": "numba", "train": "sb3_contrib", "supersuit": "supersuit"}
"""The mark of a block of Python -> the module without which it is not run; .ci/recipes.sh installs the last two."""
EXAMPLES = {
    "quickstart_aec.py": [["--game", game] for game in GAMES],
    "quickstart_gymnasium.py": [["--opponent", "nim-xor", "--episodes", "5"]],
    "custom_agent.py": [["--games", "6"]],
    "tournament.py": [["--game", "nim", "--agents", "random", "greedy", "nim-xor", "--games", "6"]],
}
"""Arguments of the examples run here. Examples with tests of their own are listed by TESTED_ELSEWHERE."""
TESTED_ELSEWHERE = {
    "ens2016_awale.py",
    "epita2024_reversi.py",
    "nsi2026_puissance4.py",
    "nim_notebook.py",
    "train_tabular_q.py",
    "train_maskable_ppo.py",
    "train_reversi_evaluation.py",
}


def blocks(language):
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            if match["language"] == language:
                line = text[: match.start("text")].count("\n") + 1
                mark = f"-{match['mark']}" if match["mark"] else ""
                yield pytest.param(match["mark"], match["text"], id=f"{page.name}:{line}{mark}")


@pytest.mark.parametrize(("mark", "code"), [block for block in blocks("python") if block.values[0] != "excerpt"])
def test_a_python_block_runs_as_a_program(mark, code, tmp_path):
    if mark is not None:
        pytest.importorskip(NEEDS[mark])
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("mark", "text"),
    [block for language in ("python", "toml") for block in blocks(language) if block.values[0] == "excerpt"],
)
def test_an_excerpt_stands_in_the_example_package(mark, text):
    package = ROOT / "examples" / "my_game"
    sources = [path.read_text(encoding="utf-8") for path in (package / "pyproject.toml", *package.glob("*/*.py"))]
    assert any(text in source for source in sources), text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_print_what_the_page_says(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0


@pytest.mark.parametrize(("mark", "lines"), [block for block in blocks("bash") if block.values[0] in (None, "fast")])
def test_command_lines_run_one_after_the_other(mark, lines, capsys, monkeypatch, tmp_path):
    if mark == "fast":
        pytest.importorskip("numba")
    monkeypatch.chdir(tmp_path)
    for line in lines.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "board-envs"
        assert main(arguments) == 0, capsys.readouterr().err


def marked(page):
    """Return the lines of a page's marked blocks by their marks."""
    found = FENCE.finditer((ROOT / page).read_text(encoding="utf-8"))
    return {match["mark"]: match["text"].splitlines() for match in found if match["mark"] not in (None, "fast")}


def test_the_two_ways_to_set_up_are_two_commands_each():
    commands = marked("README.md")
    assert set(commands) == {"use", "develop"}
    for lines in commands.values():
        assert len(lines) == 2
        assert lines[0].startswith("python -m pip install ")
    program, *arguments = shlex.split(commands["use"][1])
    assert program == "board-envs"
    assert main(arguments) == 0


def test_the_quick_checks_for_contributors_run():
    """In the checkout, as they stand; `mypy` and `lint-imports` need what the extra "dev" brings."""
    pytest.importorskip("numba", reason="types of compiled code are checked where numba is installed")
    commands = marked("CONTRIBUTING.md")
    assert set(commands) == {"develop", "checkout"}
    assert commands["develop"] == marked("README.md")["develop"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for line in commands["checkout"]:
        ended = subprocess.run(
            shlex.split(line),
            cwd=ROOT,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert ended.returncode == 0, f"{line}\n{ended.stdout}\n{ended.stderr}"


def test_paths_that_the_pages_for_contributors_name_are_there():
    for page in ("CONTRIBUTING.md", "RELEASING.md"):
        for name in re.findall(r"`((?:[\w.]+/)+[\w.]*)`", (ROOT / page).read_text(encoding="utf-8")):
            places = (ROOT, ROOT / "agents", ROOT / "agents/board_agents")
            assert any((place / name).exists() for place in places), f"{page}: {name}"


def test_files_for_other_programs_read():
    """Templates, workflow, hooks and citation are YAML with what their readers ask for."""
    yaml = pytest.importorskip("yaml", reason="the extra 'dev' brings PyYAML")
    names = [".pre-commit-config.yaml", "CITATION.cff", ".github/workflows/gate.yml"]
    names += [f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("bug", "idea", "config")]
    data = {name: yaml.safe_load((ROOT / name).read_text(encoding="utf-8")) for name in names}
    citation = data["CITATION.cff"]
    assert citation["version"] == board_envs.__version__
    assert citation["authors"] == [{"name": "board_envs contributors"}]
    assert {"cff-version", "message", "title", "license"} <= set(citation)
    for name in ("bug", "idea"):
        form = data[f".github/ISSUE_TEMPLATE/{name}.yml"]
        assert {"name", "description", "body"} <= set(form)
        assert all(field["type"] == "textarea" and field["attributes"]["label"] for field in form["body"])
    steps = [step.get("run") for job in data[".github/workflows/gate.yml"]["jobs"].values() for step in job["steps"]]
    assert {".ci/run", ".ci/run --full"} <= set(steps)
    for repository in data[".pre-commit-config.yaml"]["repos"]:
        assert repository["repo"] == "local"
        assert all(hook["language"] == "system" for hook in repository["hooks"])


def test_a_typed_program_over_the_public_names_runs():
    """mypy and pyright check it in the gate."""
    pytest.importorskip("numba", reason="vector environments need it")
    program = ROOT / "tests" / "typed" / "user_program.py"
    ended = subprocess.run(
        [sys.executable, "-W", "error", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("example", "arguments"), [(name, arguments) for name, runs in EXAMPLES.items() for arguments in runs]
)
def test_an_example_runs_from_anywhere(example, arguments, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / example, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


def test_the_readme_lists_every_game():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in GAMES:
        parameters = ", ".join(f"`{key}` ({value})" for key, value in game_parameters(name).items())
        row = f'| {name.replace("-", " ").capitalize()} | `"{name}"` | {parameters} | what the actions are |'
        assert f'| `"{name}"` |' in readme, f"README.md: a row is missing in the table of games, such as\n{row}"


def test_every_example_is_run_somewhere():
    there = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert set(EXAMPLES) <= there <= set(EXAMPLES) | TESTED_ELSEWHERE


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_the_documented_program_plays(documented_program, capsys):
    specs = f'random,program:command="{sys.executable} {documented_program}"'
    assert main(["tournament", "reversi", "-p", "size=4", "-a", specs, "-n", "4", "--json"]) == 0
    program = json.loads(capsys.readouterr().out)["agents"][1]
    assert program["faults"] == {"illegal": 0, "crash": 0, "timeout": 0}


@pytest.fixture
def documented_program(tmp_path):
    (code,) = (block.values[1] for block in blocks("python") if "sys.stdin" in block.values[1])
    file = tmp_path / "first_move.py"
    file.write_text(code, encoding="utf-8")
    return file


@pytest.mark.parametrize(("header", "known"), [("agent", agent_names()), ("oracle", oracle_names())])
def test_the_tables_of_agents_and_oracles_are_complete(header, known):
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    (rows,) = re.findall(rf"^\| {header} \|.*\n\|[- |]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    named = [name for row in rows.splitlines() for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]
    assert sorted(named) == sorted(known)


def test_the_shares_of_optimal_moves_that_take_no_time_are_as_the_baselines_say(capsys):
    rows = (ROOT / "README.md").read_text(encoding="utf-8").split("## Baselines")[1].split("## ")[0].splitlines()
    for spec in ("minimax:depth=2", "nim-xor", "nim-astar"):
        assert main(["evaluate", "nim", spec, "--json"]) == 0
        judged = json.loads(capsys.readouterr().out)
        (row,) = (row for row in rows if f"`{spec}`" in row)
        assert f"Nim {judged['total']['share_optimal']:.0%}".replace("%", " %") in row
