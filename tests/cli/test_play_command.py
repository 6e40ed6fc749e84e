import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys

import pytest
from cli_common import PROGRAM

from board_agents.arena import Ending, GameRecord
from board_envs import make_game


@pytest.fixture
def play(run, monkeypatch):
    def call(lines, *arguments):
        monkeypatch.setattr("builtins.input", asker(lines))
        return run("play", *arguments)

    return call


def asker(lines):
    """Return a stand-in for `input`: prompts are printed, lines come in turn, EOF at their end."""
    rest = iter(lines)

    def ask(prompt):
        print(prompt)
        line = next(rest, EOFError())
        if isinstance(line, BaseException):
            raise line
        return line

    return ask


def test_the_notation_is_told_and_a_game_is_played_to_its_end(play):
    code, out, err = play(["1:2", "2:4", "3:4", "3:1", "quit"], "nim", "--opponent", "human")
    assert (code, err) == (0, "")
    assert "heaps counted from 1" in out
    assert "1: ||| 3" in out
    code, out, _ = play(["4", "1", "4", "1", "4", "1", "4", "quit"], "connect-four", "-o", "human")
    assert code == 0
    assert "counted from 1" in out
    assert "player_0 (human) wins." in out


@pytest.mark.parametrize(
    "line",
    ["0", "-1", "8", "99999999999999999999", "9" * 450, "four", "4 4", "4.0", "+4", "٤", "４", "²", "½", "🙂", "\udce9",
     "\x00", "[red]", "3\t3", "None", "1:1"],
)  # fmt: skip
def test_what_is_no_move_is_refused_and_asked_again(play, line):
    code, out, err = play([line, "4", "quit"], "connect-four", "-o", "human")
    assert (code, err) == (0, "")
    assert "`moves` lists the legal ones" in out
    assert "plays 4" in out
    out.encode("utf-8")


@pytest.mark.parametrize("line", ["", "   ", "\t", "9" * 5000, UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")])
def test_lines_to_make_nothing_of(play, line):
    code, out, err = play([line, "4", "quit"], "connect-four", "-o", "human")
    assert (code, err) == (0, "")
    assert any(told in out for told in ("Type a move", "too long", "not valid text"))
    assert "plays 4" in out


@pytest.mark.parametrize(
    ("game", "lines"),
    [
        ("nim", ["1:0", "0:1", "1:4", "4:1", "1:-1", "1", ":"]),
        ("awale", ["6", "-1", "a"]),
        ("reversi", ["a1", "i9", "d0"]),
    ],
)
def test_every_game_refuses_moves_outside_its_board(play, game, lines):
    code, out, err = play([*lines, "quit"], game, "-o", "human")
    assert (code, err) == (0, "")
    assert out.count("`moves` lists the legal ones") == len(lines)
    assert " plays " not in out


def test_a_full_column_is_refused(play):
    code, out, _ = play(["4"] * 7 + ["quit"], "connect-four", "-o", "human")
    assert code == 0
    assert out.count("plays 4") == 6
    assert "not legal" in out


def test_the_end_of_input_ends_the_session_politely(play):
    code, out, err = play(["4"], "connect-four", "-o", "human")
    assert (code, err) == (0, "")
    assert "end of input; the position is: " in out


def test_help_moves_board_and_hint(play):
    code, out, _ = play(["help", "?", "moves", "board", "hint", "quit"], "nim", "-o", "human")
    assert code == 0
    assert out.count("undo  ") == 2
    assert "1:1 1:2 1:3 2:1" in out
    assert "3,4,5 0" in out
    assert "1:2 (exact values for you: 1:2 +1" in out


def test_a_hint_without_exact_values_says_that_it_is_none(play):
    code, out, _ = play(["hint", "quit"], "awale", "-o", "human")
    assert code == 0
    assert "from a search, not exact" in out


def test_undo_takes_back_ones_own_move_and_the_answer(play):
    code, out, _ = play(["undo", "4", "undo", "board", "quit"], "connect-four", "-o", "greedy")
    assert code == 0
    assert "no move to take back" in out
    assert "-------/-------/-------/-------/-------/------- 0" in out
    _, out, _ = play(["4", "4", "undo", "board", "quit"], "connect-four", "-o", "human")
    assert "the position is: -------/-------/-------/-------/-------/---X--- 1" in out


def test_undo_after_the_end(play):
    code, out, _ = play(["1:1", "moo", "", "undo", "quit"], "nim", "-o", "human", "--param", "heaps=1")
    assert code == 0
    assert "player_0 (human) wins." in out
    assert "the position is: 1 0" in out


def test_a_saved_game_goes_on_where_it_was(play, tmp_path):
    file = tmp_path / "game.json"
    code, out, _ = play(["1:1", "2:4", f"save {file}", "quit"], "nim", "-o", "human", "--param", "misere=true")
    assert code == 0
    record = GameRecord.from_json(file.read_text())
    assert record.ending is Ending.UNFINISHED
    game = make_game("nim", misere=True)
    assert record.make_game() is game
    assert game.write_moves(record.actions) == "1:1 2:4"
    record.replay()
    assert list(tmp_path.iterdir()) == [file]
    code, out, _ = play(["undo", "quit"], "--load", file, "-o", "human")
    assert code == 0
    assert "misere=true" in out
    assert "the position is: 2,4,5 1" in out
    code, out, _ = play([f"load {file}", "quit"], "connect-four", "-o", "human")
    assert "the position is: 2,0,5 0" in out


def test_a_finished_game_can_be_saved_and_looked_at(play, tmp_path):
    file = tmp_path / "game.json"
    play(["1:1", f"save {file}", "quit"], "nim", "-o", "human", "--param", "heaps=1")
    assert GameRecord.from_json(file.read_text()).winner == 0
    code, out, _ = play(["quit"], "--load", file, "-o", "human")
    assert code == 0
    assert "wins" in out


def test_what_cannot_be_saved_or_loaded_leaves_the_game_as_it_is(play, tmp_path):
    (tmp_path / "noise").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "text").write_text("hello")
    reversi = tmp_path / "reversi"
    play([f"save {reversi}", "quit"], "reversi", "-o", "human")
    lines = ["1:1", "save", "load", f"save {tmp_path}/no/where", f"load {tmp_path}/missing", f"load {tmp_path}/noise"]
    lines += [f"load {tmp_path}/text", f"load {reversi}", f"save {tmp_path}", "quit"]
    code, out, err = play(lines, "nim", "-o", "nim-xor", "--seed", "1", "--moves", "1:2")
    assert (code, err) == (0, "")
    assert "the position is: " in out
    assert "save which file?" in out
    assert "load which file?" in out
    assert out.count("No such file or directory") == 2
    assert "not a saved game" in out
    assert "no game record" in out
    assert re.search(r"the position is: \d,\d,\d \d", out)


@pytest.mark.parametrize("word", ["save", "load"])
@pytest.mark.parametrize("name", ["/", ".", "..", "~no.such.user/x", "a\0b", "/no/such/\udcff", "x" * 400])
def test_names_that_no_file_can_have_lose_nothing(play, word, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = play(["1:1", f"{word} {name}", "quit"], "nim", "-o", "human")
    assert (code, err) == (0, "")
    assert "the position is: 2,4,5 1" in out
    assert not list(tmp_path.iterdir())


def test_agents_are_watched(play):
    code, out, err = play([], "reversi", "--player", "greedy", "-o", "random", "--seed", "5", "--param", "size=4")
    assert (code, err) == (0, "")
    assert "player_0 (greedy) plays" in out
    assert re.search(r"wins by \d+ discs|drawn", out)
    again = play([], "reversi", "--player", "greedy", "-o", "random", "--seed", "5", "--param", "size=4")[1]
    assert again == out


def test_a_skipped_player_is_told(play):
    code, out, _ = play(["a4", "quit"], "reversi", "-o", "human", "--param", "size=4", "--start", "-----OOOXXOO-OXO X")
    assert code == 0
    assert "player_1 (human) cannot move; player_0 (human) moves again" in out


@pytest.mark.parametrize("seat", ["0", "1", "random"])
def test_ones_seat_can_be_chosen(play, seat):
    code, out, _ = play(["quit"], "connect-four", "-o", "greedy", "--seat", seat, "--seed", "2")
    assert code == 0
    me = re.search(r"player_(\d) \(human\)", out)[1]
    assert seat in (me, "random")


def test_an_agent_that_fails_is_told_and_loses(play, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("for _ in range(2):\n    input()\n    print('ready', flush=True)\ninput()\n")
    spec = f'program:command="{sys.executable} {program}"'
    code, out, err = play(["4"], "connect-four", "-o", spec)
    assert (code, err) == (1, "")
    assert "fails: crash" in out
    assert "player_0 (human) wins by forfeit" in out


def test_an_agent_that_cannot_begin_is_told(play):
    code, out, err = play([], "connect-four", "-o", f'program:command="{sys.executable} -c 0"')
    assert (code, out) == (2, "")
    assert "cannot start" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "missing GAME"),
        (["chess"], "unknown game 'chess'"),
        (["nim", "-o", "gredy"], "did you mean 'greedy'"),
        (["nim", "--seat", "2"], "0, 1 or random"),
        (["nim", "--seed", "-3"], "-3"),
        (["nim", "--moves", "1:1 9:9"], "move 2 ('9:9')"),
        (["nim", "--start", "7,7,7"], "more than"),
        (["nim", "--load", "x"], "--load excludes GAME"),
        (["--load", "/no/such/file"], "/no/such/file"),
        (["nim", "--delay", "-1"], "--delay"),
        (["nim", "--player", "random", "--delay", "nan"], "--delay"),
        (["nim", "--player", "random", "--delay", "inf"], "--delay"),
    ],
)
def test_mistakes_on_the_command_line(play, arguments, told):
    code, out, err = play([], *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert told in err


class Terminal:
    """The command in a pseudo-terminal, as a person has it."""

    def __init__(self, *arguments):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "play", *arguments], stdin=slave, stdout=slave, stderr=slave, close_fds=True
        )
        os.close(slave)
        self.text = ""

    def until(self, text):
        """Read until a text is shown."""
        seen = len(self.text)
        while text not in self.text[seen:]:
            ready, _, _ = select.select([self.master], [], [], 120)
            assert ready, f"{text!r} did not come: {self.text}"
            self.text += os.read(self.master, 4096).decode(errors="replace")

    def type(self, data):
        os.write(self.master, data)

    def interrupt(self):
        """Press Ctrl-C as people do: again, if nothing happens (a signal just before a read begins does not end it)."""
        for _ in range(20):
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=5)
                return

    def end(self):
        try:
            code = self.process.wait(timeout=120)
        finally:
            self.process.kill()
            self.process.wait()
        while select.select([self.master], [], [], 0)[0]:
            try:
                data = os.read(self.master, 4096)
            except OSError:  # what Linux says when the other side is closed
                break
            if not data:
                break
            self.text += data.decode(errors="replace")
        os.close(self.master)
        return code


def test_a_terminal_game_with_ctrl_d():
    terminal = Terminal("nim", "-o", "nim-xor")
    terminal.until("player_0> ")
    terminal.type(b"0:1\n")
    terminal.until("player_0> ")
    terminal.type("é\n".encode("latin-1"))
    terminal.until("player_0> ")
    terminal.type(b"1:1\n")
    terminal.until("player_0> ")
    terminal.type(b"\x04")
    assert terminal.end() == 0
    assert "end of input" in terminal.text
    assert "Traceback" not in terminal.text


def test_a_terminal_game_with_ctrl_c():
    terminal = Terminal("connect-four", "-o", "human")
    terminal.until("player_0> ")
    terminal.interrupt()
    assert terminal.end() == 130
    assert "the position is" in terminal.text
    assert "board-envs: stopped" in terminal.text
    assert "Traceback" not in terminal.text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["connect-four", "--moves", "ddec"], "-------/-------/-------/-------/---O---/--OXX-- 0"),
        (["connect-four", "--moves", "1. d d 2. e c"], "-------/-------/-------/-------/---O---/--OXX-- 0"),
        (["nim", "--start", "1-4-2 1"], "1,4,2 1"),
        (["nim", "--start", "1-4-2 1", "--moves", "2:4"], "1,0,2 0"),
        (["awale", "--start", "4-4-0-5-5-5-5-4-4-4-4-4-0-0-N"], "5,4,4,4,4,4,4,4,0,5,5,5;0,0 1"),
    ],
)
def test_a_game_begins_from_any_form(play, arguments, text):
    code, out, _ = play(["board", "quit"], *arguments, "-o", "human")
    assert code == 0
    assert out.count(text) == 2


def test_moves_are_no_position(play):
    code, out, err = play([], "nim", "--moves", "1-4-2")
    assert (code, out) == (2, "")
    assert "--moves '1-4-2' is a position; use --start" in err
    for moves in ("4453 7", "4453 44"):
        code, out, err = play([], "connect-four", "--moves", moves)
        assert (code, out) == (2, "")
    code, _, err = play([], "connect-four", "--moves", "4453 7")
    assert "contains the value 7 besides moves (pons)" in err
