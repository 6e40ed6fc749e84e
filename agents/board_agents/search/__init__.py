"""Search for every game: evaluations, minimax and alpha-beta, Monte Carlo tree search, exhaustive search."""

from typing import TYPE_CHECKING, Any

from board_envs._moved import moved_name

if not TYPE_CHECKING:  # a type checker would take every name for one of these

    def __getattr__(name: str) -> Any:
        return moved_name(__name__, "board_agents.search.interpreted", name)
