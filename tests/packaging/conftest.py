"""A wheel of the project, and an environment that has it and sees nothing of the source tree."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
THIRD_PARTY_PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "last-column"
version = "1.0"

[project.entry-points."board_envs.agents"]
last-column = "last_column:LastColumn"
"""
THIRD_PARTY_SOURCE = """
class LastColumn:
    def __init__(self, game, *, from_end: int = 1):
        if from_end < 1:
            raise ValueError("from_end is 1 or more")
        self.from_end = from_end

    def reset(self, seed=None):
        pass

    def act(self, observation, state=None):
        legal = observation["action_mask"].nonzero()[0]
        return int(legal[-min(self.from_end, len(legal))])
"""


def run(arguments, **options):
    """Run a program; its output is shown if it fails."""
    ended = subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=False, timeout=600, **options)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def build_wheel(source, out):
    """Build the wheel of a source folder with what is installed; no network."""
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source])
    (wheel,) = out.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    return build_wheel(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def third_party_wheel(tmp_path_factory):
    """A package of somebody else's that brings an agent."""
    source = tmp_path_factory.mktemp("third_party")
    (source / "pyproject.toml").write_text(THIRD_PARTY_PROJECT, encoding="utf-8")
    (source / "last_column.py").write_text(THIRD_PARTY_SOURCE, encoding="utf-8")
    return build_wheel(source, source / "dist")


class Installed:
    """An environment with wheels in it; the dependencies are those of the environment that runs the tests."""

    def __init__(self, folder):
        run([sys.executable, "-m", "venv", "--without-pip", folder])
        windows = os.name == "nt"
        self.scripts = folder / ("Scripts" if windows else "bin")
        self.python = self.scripts / ("python.exe" if windows else "python")
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        site = Path(self.call("import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        # A path file's folders are searched, their own path files (an editable install's) are not read.
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    def install(self, wheel):
        run([sys.executable, "-m", "pip", "--python", self.python, "install", "--no-deps", "--no-index", wheel])

    def call(self, code, *arguments):
        """Run code in a fresh interpreter outside the source tree, warnings as errors."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        return run([self.python, "-W", "error", "-c", code, *arguments], cwd=self.elsewhere, env=environment)

    def command(self, *arguments, typed=None):
        """Run the installed command line; `typed` is what somebody types at it."""
        return run([self.scripts / "board-envs", *arguments], cwd=self.elsewhere, input=typed)


@pytest.fixture(scope="module")
def with_game(wheel, tmp_path_factory):
    """An environment with the wheel and with that of the example package, which has a game of its own."""
    source = tmp_path_factory.mktemp("my_game") / "source"
    shutil.copytree(ROOT / "examples" / "my_game", source, ignore=shutil.ignore_patterns("__pycache__"))
    environment = Installed(tmp_path_factory.mktemp("with_game"))
    environment.install(wheel)
    environment.install(build_wheel(source, source / "dist"))
    return environment


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    environment = Installed(tmp_path_factory.mktemp("installed"))
    environment.install(wheel)
    return environment
