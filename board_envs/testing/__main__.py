"""``python -m board_envs.testing GAME ...``: run all checks on installed games."""

from __future__ import annotations

import argparse
import sys

from board_envs.registry import known_names
from board_envs.testing import check_game


def main() -> int:
    """Check the games named on the command line; return 1 if one is broken."""
    parser = argparse.ArgumentParser(prog="python -m board_envs.testing", description="Run all checks on a game.")
    parser.add_argument("games", nargs="+", metavar="GAME", help=f"one of: {', '.join(known_names())}")
    results = [_passes(name, parser) for name in parser.parse_args().games]
    return 0 if all(results) else 1


def _passes(name: str, parser: argparse.ArgumentParser) -> bool:
    try:
        check_game(name, report=lambda line: print(line, file=sys.stderr, flush=True))
    except AssertionError as error:
        print(f"broken: {error}")
        return False
    except ValueError as error:
        parser.error(str(error))
    print(f"{name}: all checks passed")
    return True


if __name__ == "__main__":
    sys.exit(main())
