import configparser
import email
import json
import re
import zipfile

import pytest
from packaging_common import FRESH_WAYS, SMOKE

import board_envs
from board_envs.registry import GAMES


@pytest.fixture(scope="module")
def archive(wheel):
    with zipfile.ZipFile(wheel) as archive:
        yield archive


def read_info(archive, name):
    (path,) = (path for path in archive.namelist() if path.endswith(f".dist-info/{name}"))
    return archive.read(path).decode()


def test_the_wheel_is_for_every_python_and_machine(wheel, archive):
    assert wheel.name == f"board_envs-{board_envs.__version__}-py3-none-any.whl"
    assert "Root-Is-Purelib: true" in read_info(archive, "WHEEL")


def test_the_wheel_brings_exactly_two_packages(archive):
    tops = {path.split("/")[0] for path in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"board_envs", "board_agents"}
    assert not [path for path in archive.namelist() if "__pycache__" in path or "/tests/" in path]
    for package in ("board_envs", "board_agents"):
        assert f"{package}/py.typed" in archive.namelist()
    assert "MIT" in read_info(archive, "licenses/LICENSE")


def test_the_core_needs_three_packages_only(archive):
    metadata = email.message_from_string(read_info(archive, "METADATA"))
    core = [text for text in metadata.get_all("Requires-Dist") if "extra ==" not in text]
    assert sorted(re.split(r"[<>=!~ ]", text)[0] for text in core) == ["gymnasium", "numpy", "pettingzoo"]
    assert {"cli", "dev", "fast"} <= set(metadata.get_all("Provides-Extra"))
    assert metadata["Requires-Python"] == ">=3.10"


def test_entry_points_name_what_there_is(archive):
    parser = configparser.ConfigParser()
    parser.read_string(read_info(archive, "entry_points.txt"))
    assert parser["console_scripts"]["board-envs"] == "board_agents.cli:main"
    assert set(parser["board_envs.resolvers"]) == {"agent", "oracle"}


def test_the_installed_package_plays_right_outside_the_source_tree(installed):
    assert "games played" in installed.call(SMOKE, str(installed.python.parent.parent))


def test_importing_the_package_imports_no_compiler_trainer_or_graphics(installed):
    found = installed.call(
        "import sys, board_envs, board_agents, board_agents.arena\n"
        "board_envs.make_game('connect-four').from_moves('4453')\n"
        "print([name for name in ('numba', 'torch', 'pygame', 'jax', 'matplotlib', 'typer', 'rich', 'sqlalchemy')"
        " if name in sys.modules])"
    )
    assert found.strip() == "[]"


@pytest.mark.parametrize("way", sorted(FRESH_WAYS))
def test_every_id_is_found_in_a_fresh_interpreter(installed, way):
    for name in GAMES:
        assert installed.call(FRESH_WAYS[way], name).strip() == name


def test_an_unknown_id_gets_a_suggestion(installed):
    text = installed.call(
        "import board_envs, gymnasium\n"
        "try:\n    gymnasium.make('board_envs/ConectFour-v0')\n"
        "except gymnasium.error.Error as error:\n    print(error)"
    )
    assert "ConnectFour" in text


def test_the_command_is_installed(installed):
    assert installed.command("--version") == f"board-envs {board_envs.__version__}\n"
    assert "100.0%" in installed.command("tournament", "nim", "-a", "random,nim-xor", "-n", "4", "--seed", "1")


def test_without_the_extra_the_command_says_what_to_install(installed):
    text = installed.call(
        "import contextlib, io, sys\n"
        "sys.modules['typer'] = None\n"
        "from board_agents.cli import main\n"
        "with contextlib.redirect_stderr(io.StringIO()) as text:\n    code = main(['games'])\n"
        "print(code, text.getvalue())"
    )
    assert text.startswith("2 board-envs:")
    assert "board-envs[cli]" in text


def test_the_wheel_brings_its_data(installed):
    report = json.loads(installed.command("evaluate", "nim", "nim-xor", "--on", "suite", "--json"))
    assert report["source"]["kind"] == "suite"
    assert report["total"]["share_optimal"] == 1
