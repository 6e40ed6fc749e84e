"""Without an extra, what needs it says which one to install."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
sys.modules[{package!r}] = None
from board_agents.cli import main
raise SystemExit(main({arguments!r}))
"""


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("sqlalchemy", ["tournament", "nim", "-a", "random,greedy", "-n", "2", "--records", "x.db"], "records"),
        ("sqlalchemy", ["records", "query", "x.db"], "records"),
        ("joblib", ["tournament", "nim", "-a", "random,greedy", "-n", "2", "--workers", "2"], "records"),
        ("matplotlib", ["report", "games.txt", "-o", "report.html", "--judged", "0"], "records"),
        ("pyarrow", ["records", "copy", "games.txt", "games.parquet"], "records"),
        ("minari", ["records", "copy", "games.txt", "minari:games-v0"], "minari"),
        ("ray", ["tournament", "nim", "-a", "random,greedy", "-n", "2", "--backend", "ray"], "cluster"),
    ],
)
def test_a_missing_extra_is_named(package, arguments, extra, tmp_path):
    if package != "joblib" and extra == "cluster":
        pytest.importorskip("joblib")
    (tmp_path / "games.txt").write_text("game: nim\nmoves: 1:3\n")
    (tmp_path / "x.db").touch()
    program = PROGRAM.format(package=package, arguments=arguments)
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert f"board-envs[{extra}]" in ended.stderr
    assert ended.stderr.count("\n") == 1
