"""An external program as an agent, through standard input and output.

The protocol, one line a message, UTF-8, fields separated by tabs. To the program:

    game    NAME    KEY=VALUE ...   once, at the start; answer: ready
    new     SEED                    before each game, SEED a number from 0 to 2^63 - 1; answer: ready
    move    POSITION    MOVES       the position as text and the legal moves, separated by spaces; answer: one of them
    quit                            before termination; no answer

Texts are those of `Game.format` and `Game.action_to_text`. Standard output is for answers only, each flushed, each
at most `LONGEST_ANSWER` bytes; standard error is free.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import shlex
import signal
import subprocess
import threading
import weakref
from typing import Any

from board_agents.agent import GameAgent
from board_agents.oracle import check_seconds
from board_envs.game import Game
from board_envs.random import Stream
from board_envs.types import IllegalActionError, S

LONGEST_ANSWER = 4096
"""Longest answer in bytes; a program that writes a longer line is terminated."""
MOST_ANSWERS = 64
"""Maximum number of unread answers; a program that writes more is terminated."""
_LAST_WORDS = 5
"""Lines of standard error in the report of a crash."""
_LAST_BYTES = 4096
"""Bytes of standard error that are stored."""
_GRACE = 1.0
"""Seconds for a program to exit by itself."""


class ProgramCrashError(RuntimeError):
    """The program exited, or broke the protocol."""


class ProgramTimeoutError(TimeoutError):
    """The program exceeded its time and was terminated."""


class ProgramAgent(GameAgent[S]):
    """Plays the answers of a program, which is started at the first `reset` or `act` and terminated by `close`.

    The command is run with the rights of this process: only name programs that you trust.

    Args:
        game: the game.
        command: the command line, split as a shell does; in a spec string between double quotes.
        seconds: time per answer, from sending the question. A slower program is terminated with
            its process group; the next game restarts it.

    """

    def __init__(self, game: Game[S], *, command: str, seconds: float = 10.0) -> None:
        super().__init__(game)
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"command {command!r}: {error}") from None
        if not self._command:
            raise ValueError("command is empty")
        self.command, self.seconds = command, check_seconds("program", seconds)
        self._pipe: _Pipe | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles start their own program."""
        return _remake, (type(self), self.game, self.command, self.seconds)

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game in the program."""
        seed = Stream.seeded(None).seed() if seed is None else seed
        super().reset(seed)
        self._start()
        self._expect_ready(f"new\t{seed}")

    def choose(self, state: S) -> int:
        """Return the program's move.

        Raises:
            IllegalActionError: it answered with an illegal move.
            ProgramTimeoutError: it took too long.
            ProgramCrashError: it exited, or wrote other output.

        """
        self._start()
        moves = [self.game.action_to_text(state, action) for action in self.game.legal_actions(state)]
        answer = self._ask(f"move\t{self.game.format(state)}\t{' '.join(moves)}")
        try:
            return self.game.text_to_action(state, answer)
        except IllegalActionError as error:
            raise IllegalActionError(f"{self._command[0]} answered {answer!r}: {error}") from None

    def close(self) -> None:
        """Terminate the program and its process group."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()

    def __enter__(self) -> ProgramAgent[S]:
        """Return the agent; leaving the context closes it."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Terminate the program."""
        self.close()

    def _start(self) -> None:
        if self._pipe is not None:
            return
        try:
            self._pipe = _Pipe(self._command)
        except OSError as error:
            raise ProgramCrashError(f"{self._command[0]} cannot start: {error}") from error
        # For an agent that was never closed: close it at interpreter exit.
        weakref.finalize(self, self._pipe.close)
        parameters = "\t".join(f"{key}={value}" for key, value in self.game.parameters.items())
        self._expect_ready(f"game\t{self.game.name}\t{parameters}".rstrip("\t"))

    def _expect_ready(self, message: str) -> None:
        answer = self._ask(message)
        if answer != "ready":
            self.close()
            raise ProgramCrashError(f"{self._command[0]} answered {answer!r} to {message!r}, not 'ready'")

    def _ask(self, message: str) -> str:
        pipe = self._pipe
        assert pipe is not None
        try:
            answer = pipe.ask(message, self.seconds)
        except queue.Empty:
            pipe.kill()
            self.close()
            raise ProgramTimeoutError(f"{self._command[0]} did not answer within {self.seconds:g} s") from None
        if answer is None:
            self.close()
            raise ProgramCrashError(f"{self._command[0]} {pipe.fault or pipe.last_words()}")
        return answer


class _Pipe:
    """A program and its three streams, each served by a thread, so that every wait has a time limit.

    Attributes:
        process: the program, the first of a process group.
        fault: description of a protocol violation; empty without one.

    """

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
        self.fault = ""
        self._closed = False
        self._questions: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        # One more place than answers, for the end of the output.
        self._answers: queue.Queue[str | None] = queue.Queue(MOST_ANSWERS + 1)
        self._errors = b""
        targets = (self._write_questions, self._read_answers, self._read_errors)
        self._threads = [threading.Thread(target=target, daemon=True) for target in targets]
        for thread in self._threads:
            thread.start()

    def ask(self, message: str, seconds: float) -> str | None:
        """Send a line and return the answer; None if the output has ended; raise queue.Empty after the time limit."""
        self._questions.put(message)
        answer = self._answers.get(timeout=seconds)
        return None if self.fault else answer

    def last_words(self) -> str:
        """Describe how the program ended, with the last lines of its standard error; call it after `close`."""
        lines = self._errors.decode("utf-8", "replace").splitlines()[-_LAST_WORDS:]
        words = "; ".join(line.rstrip() for line in lines)
        return f"ended with exit code {self.process.returncode}" + (f": {words}" if words else "")

    def kill(self) -> None:
        """Kill the program and its process group."""
        with contextlib.suppress(OSError):  # it has already exited
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    def close(self) -> None:
        """Ask the program to quit; kill it and its process group if it does not; idempotent."""
        if self._closed:
            return
        self._closed = True
        self._questions.put("quit")
        self._questions.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.0 if self.fault else _GRACE)
        # Child processes may outlive the program and keep its streams open (a shell script's engine).
        self.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(_GRACE)
        streams = (self.process.stdin, self.process.stdout, self.process.stderr)
        for thread, stream in zip(self._threads, streams, strict=True):
            assert stream is not None
            # A process that left the group can keep a stream open; closing it would wait for its reader.
            if not thread.is_alive():
                with contextlib.suppress(OSError):
                    stream.close()

    def _write_questions(self) -> None:
        stream = self.process.stdin
        assert stream is not None
        with contextlib.suppress(OSError):  # the program has closed its input; that it ended is met by the reader
            while (message := self._questions.get()) is not None:
                stream.write(message.encode() + b"\n")
                stream.flush()
        with contextlib.suppress(OSError):
            stream.close()

    def _read_answers(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline(LONGEST_ANSWER + 1):
            if len(line) > LONGEST_ANSWER:
                self.fault = f"wrote a line of more than {LONGEST_ANSWER} bytes"
                break
            if self._answers.qsize() >= MOST_ANSWERS:
                self.fault = f"wrote more than {MOST_ANSWERS} unrequested lines"
                break
            self._answers.put(line.decode("utf-8", "replace").rstrip("\r\n"))
        if self.fault:
            self.kill()
        self._answers.put(None)

    def _read_errors(self) -> None:
        stream = self.process.stderr
        assert isinstance(stream, io.BufferedReader)
        while part := stream.read1(_LAST_BYTES):
            self._errors = (self._errors + part)[-_LAST_BYTES:]


def _remake(cls: type[ProgramAgent[S]], game: Game[S], command: str, seconds: float) -> ProgramAgent[S]:
    return cls(game, command=command, seconds=seconds)
