import copy
import sys
from pathlib import Path

import pytest

from board_agents.arena import Ending, play_game
from board_envs import make_game
from board_envs.policies import agent_builder
from board_envs.types import IllegalActionError, MissingExtraError

NIM, FOUR = make_game("nim"), make_game("connect-four")
NAMES = ("a", "b")


def lowest(observation):
    return int(observation["action_mask"].argmax())


def test_a_game_is_played_by_the_rules_from_both_seats():
    record = play_game(NIM, ["nim-xor", "random"], names=NAMES, seeds=(5, 6))
    assert record.ending is Ending.FINISHED
    assert record.winner == 0
    assert record.offender == -1
    swapped = play_game(NIM, ["random", "nim-xor"], names=NAMES, seeds=(5, 6), opening=(0,))
    assert swapped.winner == 1
    assert swapped.actions[0] == 0


def test_seeds_decide_the_game():
    games = {play_game(FOUR, ["random", "random"], names=NAMES, seeds=(s, s + 1)).actions for s in (1, 1, 2, 3)}
    assert len(games) == 3


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("answer", "ending", "detail"),
    [
        (lambda observation: 99, Ending.ILLEGAL, "99"),
        (lambda observation: "left", Ending.ILLEGAL, "left"),
        (lambda observation: None, Ending.ILLEGAL, "None"),
        (lambda observation: 1 / 0, Ending.CRASH, "ZeroDivisionError"),
        (lambda observation: sys.exit(3), Ending.CRASH, "SystemExit: 3"),
        (lambda observation: Path("/no/such/\udcff").read_text(), Ending.CRASH, "FileNotFoundError"),
    ],
)
def test_a_fault_loses_the_game_and_is_recorded(seat, answer, ending, detail):
    builders = [lowest, lowest]
    builders[seat] = answer
    record = play_game(NIM, builders, names=NAMES)
    assert record.ending is ending
    assert record.offender == seat
    assert record.winner == 1 - seat
    assert detail in record.detail
    record.to_json().encode("utf-8")  # a file takes it
    record.replay()


def test_a_full_column_is_an_illegal_move():
    record = play_game(FOUR, [lambda observation: 0] * 2, names=NAMES)
    assert record.ending is Ending.ILLEGAL
    assert len(record.actions) == 6
    assert "action 0 is not legal" in record.detail


class Programmed:
    """An agent that raises the given error."""

    closed = 0

    def __init__(self, error):
        self.error = error

    def reset(self, seed=None):
        pass

    def act(self, observation, state=None):
        raise self.error

    def close(self):
        Programmed.closed += 1


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (TimeoutError("no move within 1 s"), Ending.TIMEOUT),
        (IllegalActionError("'z9' is no move"), Ending.ILLEGAL),
        (BrokenPipeError("the program ended"), Ending.CRASH),
    ],
)
def test_agents_that_run_apart_tell_their_fault_by_the_exception(error, ending):
    before = Programmed.closed
    record = play_game(NIM, [Programmed(error), "random"], names=NAMES)
    assert (record.ending, record.offender, record.winner) == (ending, 0, 1)
    assert str(error) in record.detail
    assert Programmed.closed == before + 1


def test_an_agent_that_cannot_be_made_loses_but_a_missing_extra_is_the_users_affair():
    @agent_builder
    def broken(game):
        raise RuntimeError("no weights")

    record = play_game(NIM, ["random", broken], names=NAMES)
    assert (record.ending, record.offender, record.detail) == (Ending.CRASH, 1, "RuntimeError: no weights")
    with pytest.raises(MissingExtraError):
        play_game(NIM, [agent_builder(lambda game: Programmed(MissingExtraError("it", "fast"))), "random"], names=NAMES)


def test_ctrl_c_is_nobodys_fault():
    with pytest.raises(KeyboardInterrupt):
        play_game(NIM, [Programmed(KeyboardInterrupt()), "random"], names=NAMES)


def test_a_slow_move_is_a_timeout_and_a_long_game_is_unfinished():
    record = play_game(NIM, ["random", "random"], names=NAMES, time_limit=1e-9)
    assert (record.ending, record.offender, record.winner) == (Ending.TIMEOUT, 0, 1)
    record = play_game(FOUR, ["random", "random"], names=NAMES, max_plies=3)
    assert (record.ending, record.offender, record.winner) == (Ending.UNFINISHED, -1, -1)
    assert len(record.actions) == 3


def test_an_agent_that_writes_into_what_it_is_given_changes_nothing():
    class Vandal:
        def reset(self, seed=None):
            pass

        def act(self, observation, state=None):
            action = lowest(observation)
            observation["observation"][...] = 0
            observation["action_mask"][...] = 0
            return action

    vandals = play_game(FOUR, [Vandal()] * 2, names=NAMES)
    honest = play_game(FOUR, [copy.copy(lowest)] * 2, names=NAMES)
    assert vandals.actions == honest.actions
