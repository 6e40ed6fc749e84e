"""Late look-up of what the environments do not know: agents and oracles, named by spec strings.

The environments never import the agents. Whoever provides them declares entry points ``agent`` and ``oracle`` in the
group ``board_envs.resolvers``, each a function ``(spec, game) -> object``.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from board_envs.game import Game


def resolve(kind: str, spec: str, game: Game[Any]) -> Any:
    """Return the agent or oracle that a spec string names; `kind` is "agent" or "oracle".

    Raises:
        SpecError: the spec names nothing there is (the message lists what there is).
        LookupError: nothing that provides this kind is installed.

    """
    for point in entry_points(group="board_envs.resolvers", name=kind):
        return point.load()(spec, game)
    raise LookupError(f"{kind} {spec!r}: no installed package provides {kind}s; pass an object instead of a text")
