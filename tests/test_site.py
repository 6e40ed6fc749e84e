"""The notebooks run, and the site is served to this machine alone; `.ci/run` builds it."""

import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.nb.py"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_as_a_program(notebook, tmp_path):
    pytest.importorskip("numba")
    ended = subprocess.run(
        [sys.executable, "-W", "error", notebook],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert not list(tmp_path.iterdir())


def test_all_notebooks_are_listed_and_titled():
    listed = re.search(r":::\{toctree\}\n(.*?):::", (DOCS / "notebooks" / "index.md").read_text(), re.DOTALL)[1].split()
    assert sorted(listed) == [path.name.removesuffix(".nb.py") for path in NOTEBOOKS]
    for path in NOTEBOOKS:
        assert re.search(r"^# %% \[markdown\]\n# # \w", path.read_text(encoding="utf-8"), re.MULTILINE), path


def test_every_page_is_in_a_table_of_contents():
    """Sphinx asks for it too; this says so without Sphinx."""
    listed = set()
    for page in DOCS.rglob("*.md"):
        for names in re.findall(r":::\{toctree\}\n(.*?):::", page.read_text(encoding="utf-8"), re.DOTALL):
            entries = (line for line in names.split() if not line.startswith(":"))
            listed |= {(page.parent / entry).resolve() for entry in entries}
    pages = {path.with_suffix("").resolve() for path in DOCS.rglob("*.md")}
    assert pages - listed == {(DOCS / "index").resolve()}


def test_the_site_is_served_to_this_machine_alone(tmp_path):
    (tmp_path / "index.html").write_text("here")
    code = f"import pathlib, sys; sys.path.insert(0, {str(DOCS)!r}); import build; build.serve(pathlib.Path.cwd(), 0)"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            address = server.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
            with urllib.request.urlopen(address, timeout=20) as answer:
                assert answer.read() == b"here"
        finally:
            server.terminate()
