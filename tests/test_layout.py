"""The shape of the two packages: no import circles, and no game named outside its own folder."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = {"board_envs": ROOT, "board_agents": ROOT / "agents"}
MODULES = {
    ".".join((path.parent if path.name == "__init__.py" else path.with_suffix("")).relative_to(source).parts): path
    for package, source in SOURCES.items()
    for path in sorted((source / package).rglob("*.py"))
}


def imports_of(module):
    """Yield the project's modules that a module imports, anywhere in its code."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                below = f"{node.module}.{name.name}"
                target = below if below in MODULES else node.module
                if target in MODULES and target != module:
                    yield target


def circles(graph):
    """Return the sets of nodes that reach each other, by removing again and again what nothing (or only ends) reach."""
    left = {node: set(targets) & set(graph) for node, targets in graph.items()}
    while True:
        reached = set().union(*left.values())
        ends = {node for node, targets in left.items() if not targets or node not in reached}
        if not ends:
            return sorted(left)
        left = {node: targets - ends for node, targets in left.items() if node not in ends}


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]


def test_no_module_imports_itself_by_way_of_others():
    assert circles({module: set(imports_of(module)) for module in MODULES}) == []


GAMES = re.compile(
    r"reversi|othello|connect[ _-]?(four|4|x)\b|connect[ _-]?four|puissance|awal[eé]|\boware\b|mancala|kalah|\bnim",
    re.IGNORECASE,
)
"""The games' names in any spelling."""
PLACES = {
    "board_envs/__init__.py": r"^from board_envs import |^    \"[a-z_]+_v0\",$",  # type checkers find the modules here
    "board_envs/registry.py": r'^    "([a-z-]+)": "board_envs\.games\.[a-z_]+",$',  # one line a game
    "agents/board_agents/arena/records/schema.py": r'^Source: "Jeu de Reversi"',  # a document's title
    "agents/board_agents/_moved.py": "",  # old names of modules
    "agents/board_agents/cli/records_command.py": r'.*"--game", .* = "reversi",$',  # the default of version 0.1.0
}
"""Shared file -> the lines of it that name a game."""


def shared_files():
    for package, source in SOURCES.items():
        files = (path for path in (source / package).rglob("*") if path.suffix in (".py", ".html", ".js", ".css"))
        for path in sorted(files):
            parts = path.relative_to(source / package).parts
            if not (parts[0] == "games" and len(parts) > 2) and not path.name.endswith("_v0.py"):
                yield path


def test_shared_code_names_no_game():
    named = []
    for path in shared_files():
        name = str(path.relative_to(ROOT))
        allowed = re.compile(PLACES.get(name, r"(?!)"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if GAMES.search(line) and not allowed.match(line):
                named.append(f"{name}:{number}: {line.strip()}")
    assert not named, "\n".join(named)


def test_the_order_of_layers_has_no_exceptions():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "[tool.importlinter]" in settings
    assert "ignore_imports" not in settings


IN_EVERY_GAME = {"rules", "notation", "forms", "draw", "grids", "open_spiel_form", "perfect_agent"}
"""Modules that mean the same in each game's folder."""
ANYWHERE = {"__init__", "registry", "_moved", "forms"}
"""Modules that mean the same wherever they are."""


def test_names_of_modules_are_unique_in_meaning():
    places = {}
    for module, path in MODULES.items():
        places.setdefault(path.stem, []).append(re.sub(r"(?<=\.games\.)\w+", "*", module))
    mixed = {
        name: found
        for name, found in places.items()
        if name not in ANYWHERE and (len(set(found)) > 1 or (len(found) > 1 and name not in IN_EVERY_GAME))
    }
    assert not mixed


def test_no_two_test_modules_have_one_name():
    """pytest imports them by their names alone."""
    names = [path.name for path in sorted((ROOT / "tests").rglob("*.py")) if path.name != "conftest.py"]
    assert sorted(set(names)) == sorted(names)
