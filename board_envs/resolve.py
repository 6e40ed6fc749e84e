"""Late look-up of agents and oracles by spec strings.

The environments never import the agents. A package of agents declares entry points ``agent`` and ``oracle`` in the
group ``board_envs.resolvers``, each a function ``(spec, game) -> object``.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from board_envs.game import Game


def resolve(kind: str, spec: str, game: Game[Any]) -> Any:
    """Return the agent or oracle that a spec string names; `kind` is "agent" or "oracle".

    Raises:
        SpecError: the spec does not match a known agent or oracle (the message lists those).
        LookupError: no installed package provides this kind.

    """
    for point in entry_points(group="board_envs.resolvers", name=kind):
        return point.load()(spec, game)
    raise LookupError(f"{kind} {spec!r}: no installed package provides {kind}s; pass an object instead of a text")
