"""A program on standard input and output as an agent.

The protocol, one line a message, UTF-8, fields separated by tabs. To the program:

    game    NAME    KEY=VALUE ...   once, when it is started; answer: ready
    new     SEED                    before each game, SEED a number from 0 to 2^63 - 1; answer: ready
    move    POSITION    MOVES       the position as text and the legal moves, separated by spaces; answer: one of them
    quit                            before it is ended; no answer

Texts are those of `Game.format` and `Game.action_to_text`. Only answers belong on standard output, each flushed;
standard error is free.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
from collections import deque
from typing import Any

from board_agents.agent import GameAgent
from board_envs.game import Game
from board_envs.random import Stream
from board_envs.types import IllegalActionError

_LAST_WORDS = 5
"""Lines of standard error told when a program ends."""
_GRACE = 1.0
"""Seconds that a program has to end by itself."""


class ProgramCrashError(RuntimeError):
    """The program ended, or answered what the protocol does not know."""


class ProgramTimeoutError(TimeoutError):
    """The program took longer than its time; it has been ended."""


class ProgramAgent(GameAgent):
    """Plays what a program answers. The program is started with the first `reset` or `act` and ended by `close`.

    Args:
        game: the game.
        command: the command line, split as a shell does; in a spec string between double quotes.
        seconds: time for each answer. Beyond it the program is ended; the next game starts it again.

    """

    def __init__(self, game: Game[Any], *, command: str, seconds: float = 10.0) -> None:
        super().__init__(game)
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"command {command!r}: {error}") from None
        if not self._command:
            raise ValueError("command is empty")
        if not 0 < seconds < threading.TIMEOUT_MAX:
            raise ValueError(f"seconds is a time above 0, not {seconds!r}")
        self.command, self.seconds = command, seconds
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._readers: list[threading.Thread] = []

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are agents that start a program of their own."""
        return _remake, (type(self), self.game, self.command, self.seconds)

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game in the program."""
        seed = Stream.seeded(None).seed() if seed is None else seed
        super().reset(seed)
        self._start()
        self._expect_ready(f"new\t{seed}")

    def choose(self, state: Any) -> int:
        """Return the program's move.

        Raises:
            IllegalActionError: it answered with no legal move.
            ProgramTimeoutError: it took too long.
            ProgramCrashError: it ended.

        """
        self._start()
        moves = [self.game.action_to_text(state, action) for action in self.game.legal_actions(state)]
        answer = self._ask(f"move\t{self.game.format(state)}\t{' '.join(moves)}")
        try:
            return self.game.text_to_action(state, answer)
        except IllegalActionError as error:
            raise IllegalActionError(f"{self._command[0]} answered {answer!r}: {error}") from None

    def close(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # it may be gone already
            process.stdin.write("quit\n")
            process.stdin.flush()
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        # What the program started may outlive it and hold its output open (a shell script's engine).
        if not self._wait_for_readers():
            with contextlib.suppress(AttributeError, OSError):  # Windows has no process groups
                os.killpg(process.pid, signal.SIGKILL)
            if not self._wait_for_readers():
                return  # it has left the group; closing what is being read would wait for it
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()

    def _wait_for_readers(self) -> bool:
        """Wait a while for the end of the program's output; whether it is there."""
        for reader in self._readers:
            reader.join(_GRACE)
        return not any(reader.is_alive() for reader in self._readers)

    def __enter__(self) -> ProgramAgent:
        """Return the agent; leaving the context closes it."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End the program."""
        self.close()

    def __del__(self) -> None:
        """End a program that nobody closed."""
        if getattr(self, "_process", None) is not None:
            self.close()

    def _start(self) -> None:
        if self._process is not None:
            return
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramCrashError(f"{self._command[0]} cannot be started: {error}") from error
        self._process = process
        self._answers, self._last_words = queue.SimpleQueue(), deque(maxlen=_LAST_WORDS)
        answers, words = self._answers, self._last_words

        def read_answers() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                answers.put(line.rstrip("\r\n"))
            answers.put(None)

        def read_errors() -> None:
            assert process.stderr is not None
            words.extend(line.rstrip() for line in process.stderr)

        self._readers = [threading.Thread(target=target, daemon=True) for target in (read_answers, read_errors)]
        for reader in self._readers:
            reader.start()
        parameters = "\t".join(f"{key}={value}" for key, value in self.game.parameters.items())
        self._expect_ready(f"game\t{self.game.name}\t{parameters}".rstrip("\t"))

    def _expect_ready(self, message: str) -> None:
        answer = self._ask(message)
        if answer != "ready":
            self.close()
            raise ProgramCrashError(f"{self._command[0]} answered {answer!r} to {message!r}, not 'ready'")

    def _ask(self, message: str) -> str:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(message + "\n")
            process.stdin.flush()
        except OSError:
            self._raise_ended()
        try:
            answer = self._answers.get(timeout=self.seconds)
        except queue.Empty:
            process.kill()
            self.close()
            raise ProgramTimeoutError(f"{self._command[0]} gave no answer in {self.seconds:g} s") from None
        if answer is None:
            self._raise_ended()
        return str(answer)

    def _raise_ended(self) -> None:
        process = self._process
        assert process is not None
        self.close()
        words = "; ".join(self._last_words)
        raise ProgramCrashError(
            f"{self._command[0]} ended with exit code {process.returncode}" + (f": {words}" if words else "")
        )


def _remake(cls: type[ProgramAgent], game: Game[Any], command: str, seconds: float) -> ProgramAgent:
    return cls(game, command=command, seconds=seconds)
