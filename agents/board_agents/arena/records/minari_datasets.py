"""Records as a Minari dataset, for offline reinforcement learning (extra "minari").

An episode is a game of the self-play environment (``opponent=None``): every action is the mover's, the observation is
that of the seat to move, the reward that of the seat that has just moved. A game that ended by the rules is
terminated, any other truncated. ``infos["action_mask"]`` is int8 (steps + 1, n). The metadata contain the whole
record, so that reading a dataset gives the original games.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np

import board_envs
from board_agents.arena.records.game_record import Ending, GameRecord, RecordError
from board_envs.registry import camel_name
from board_envs.types import MissingExtraError

PREFIX = "minari:"
"""Prefix of a dataset's id where records are read or written: ``minari:GAME/NAME-v0``."""


def read(source: str) -> Iterator[GameRecord]:
    """Yield the games of a local dataset; raise RecordError if it does not exist, or actions and record differ."""
    minari, name = _minari(), _dataset_id(source)
    if name not in minari.list_local_datasets():
        raise RecordError(f"{source}: no local Minari dataset with this id")
    dataset = minari.load_dataset(name)
    for episode in dataset.iterate_episodes():
        (metadata,) = dataset.storage.get_episode_metadata([episode.id])
        if "record" not in metadata:
            raise RecordError(f"{source}, episode {episode.id}: it contains no game record")
        record = GameRecord.from_json(str(metadata["record"]))
        if record.actions != tuple(episode.actions.tolist()):
            raise RecordError(f"{source}, episode {episode.id}: its actions are not those of its record")
        yield record


def write(target: str, records: list[GameRecord]) -> None:
    """Create a local dataset of games of one game and size; raise RecordError if that is impossible."""
    minari, name = _minari(), _dataset_id(target)
    if name in minari.list_local_datasets():
        raise RecordError(f"{target}: a local Minari dataset with this id exists")
    games = {record.make_game() for record in records}
    if len(games) != 1:
        raise RecordError(f"{target}: a dataset contains games of one game and size, not of {len(games)}")
    if any(not record.actions for record in records):
        raise RecordError(f"{target}: a game without moves cannot be an episode")
    game = games.pop()
    env = gymnasium.make(f"board_envs/{camel_name(game.name)}-v0", opponent=None, **dict(game.parameters))
    try:
        dataset = minari.create_dataset_from_buffers(
            name,
            [_episode(minari, number, record) for number, record in enumerate(records)],
            env=env,
            algorithm_name=", ".join(sorted({agent for record in records for agent in record.agents})),
            description=f"Games of {game!r}, every action the mover's; board_envs {board_envs.__version__}",
            data_format="arrow",
        )
    finally:
        env.close()
    dataset.storage.update_episode_metadata([{"record": record.to_json()} for record in records])


def _episode(minari: Any, number: int, record: GameRecord) -> Any:
    """Return a game as Minari's buffer."""
    game = record.make_game()
    states = record.replay()
    steps = len(record.actions)
    over = record.ending is Ending.FINISHED
    rewards = np.zeros(steps, np.float64)
    rewards[-1] = game.returns(states[-1])[game.current_player(states[-2])] if over else 0
    last = np.arange(steps) == steps - 1
    return minari.data_collector.EpisodeBuffer(
        id=number,
        observations=np.stack([game.observe(state, game.current_player(state)) for state in states]),
        actions=np.array(record.actions, np.int64),
        rewards=rewards,
        terminations=last & over,
        truncations=last & (not over),
        infos={"action_mask": np.stack([game.legal_mask(state) for state in states])},
    )


def _dataset_id(target: str) -> str:
    """Return the id behind the prefix; raise RecordError if Minari does not accept it."""
    _minari()
    from minari.dataset.minari_dataset import parse_dataset_id

    try:
        parse_dataset_id(target.removeprefix(PREFIX))
    except ValueError as error:
        raise RecordError(f"{target}: {error}") from error
    return target.removeprefix(PREFIX)


def _minari() -> Any:
    try:
        import minari
        import minari.data_collector
    except ModuleNotFoundError as error:
        raise MissingExtraError("Minari datasets", "minari") from error
    return minari
