"""``board-envs play``: a game at the terminal, by people, by agents, or both."""

from __future__ import annotations

import secrets
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from board_agents.agent import Agent, close_agent
from board_agents.arena.play.decisions import AgentFaultError, build_agent, decide, guarded
from board_agents.arena.records.game_record import GameRecord, RecordError
from board_agents.arena.records.storage import is_database, is_record_file
from board_agents.arena.records.text_formats import read_records, write_records
from board_agents.cli.console import Parameters, UserError, busy, game_title, read_game
from board_agents.lowlevel.atomic_files import write_whole
from board_agents.lowlevel.visible_text import visible
from board_agents.registry import make_agent, make_oracle
from board_envs.forms import own_text, read_one
from board_envs.game import Game
from board_envs.random import Stream, check_seed
from board_envs.types import IllegalActionError, MissingExtraError, Outcome, SpecError

HUMAN = "human"
LONGEST_LINE = 500
LONGEST_DELAY = 3600
HINT_AGENT = "alpha-beta:depth=4"
FAILED = 1
"""Exit code when an agent's fault ended the game."""

HELP = """\
  a move         plays it ({legend})
  moves          the legal moves
  board          the position, as a drawing and as text
  hint           a good move, and how good the others are where that is known
  undo           takes back your last move and the answers to it
  save FILE      writes the game to a file
  load FILE      goes on with a game from a file
  help, quit"""


class _Leave(Exception):  # noqa: N818  # no error: somebody wants to go
    """The person at the board ends the session."""


def command(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="A game; not needed with --load.")] = None,
    opponent: Annotated[
        str,
        typer.Option("--opponent", "-o", metavar="SPEC", help="Who plays against you; `human` for a second person."),
    ] = "greedy",
    player: Annotated[
        str, typer.Option(metavar="SPEC", help="Who has your seat; an agent here is watched playing the opponent.")
    ] = HUMAN,
    seat: Annotated[str, typer.Option(help="Your seat: 0 begins, 1 answers, random.")] = "0",
    param: Parameters = None,
    start: Annotated[str, typer.Option(metavar="POSITION", help="Begin from this position.")] = "",
    moves: Annotated[str, typer.Option(metavar="MOVES", help="Moves already made, in the game's notation.")] = "",
    load: Annotated[Path | None, typer.Option(metavar="FILE", help="Go on with a saved game.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides a random seat and the agents' chances.")] = None,
    delay: Annotated[float, typer.Option(help="Seconds to wait after an agent's move.")] = 0.0,
) -> int:
    """Play in the terminal; type `help` there for what can be typed."""
    if load is not None and (name or param or start or moves):
        raise UserError("--load brings the game, its parameters and its moves; give nothing of these beside it")
    if load is None and name is None:
        raise UserError("which game? `board-envs games` lists them")
    if seat not in ("0", "1", "random"):
        raise UserError(f"--seat is 0, 1 or random, not {seat!r}")
    if not 0 <= delay <= LONGEST_DELAY:
        raise UserError(f"--delay is 0 to {LONGEST_DELAY} seconds, not {delay}")
    try:
        stream = Stream.seeded(secrets.randbelow(1 << 32) if seed is None else check_seed(seed))
    except ValueError as error:
        raise UserError(str(error)) from error
    own = stream.below(2) if seat == "random" else int(seat)
    specs = (player, opponent) if own == 0 else (opponent, player)
    table = Table(read_game(name, param) if name else None, specs, stream, delay)
    if load is not None:
        table.load(load)
    else:
        table.begin(start, moves)
    return table.run()


class Table:
    """A game under way at the terminal.

    Attributes:
        game: what is played.
        states: the positions so far, the first one among them.
        actions: the actions between them.

    """

    def __init__(self, game: Game[Any] | None, specs: tuple[str, str], stream: Stream, delay: float = 0.0) -> None:
        self.specs, self.delay = specs, delay
        self.agents: dict[int, Agent[Any]] = {}
        self.start = ""
        self.states: list[Any] = []
        self.actions: list[int] = []
        self.seeds = (stream.seed(), stream.seed())
        if game is not None:
            self.game = game
            self.agents = self._make_agents(game)

    def _make_agents(self, game: Game[Any]) -> dict[int, Agent[Any]]:
        """Make the agents ready to play; SpecError or UserError says which cannot."""
        agents = {seat: build_agent(spec, game) for seat, spec in enumerate(self.specs) if spec != HUMAN}
        try:
            for seat, agent in agents.items():
                guarded(seat, partial(agent.reset, seed=self.seeds[seat]))
        except AgentFaultError as fault:
            raise UserError(f"{self.who(fault.seat)} cannot begin: {fault.detail}") from fault
        return agents

    def close(self) -> None:
        """Let agents go that hold a program or a file open."""
        for agent in self.agents.values():
            close_agent(agent)

    # -- a game's course ----------------------------------------------------------------------------------------------

    def begin(self, start: str, moves: str) -> None:
        """Set up the first position, and play moves given as text."""
        game = self.game
        self.start = own_text(game, start) if start else ""
        first, actions = game.parse(start) if start else game.initial_state(), list[int]()
        if start and moves:
            actions = game.read_moves(moves, first)
        elif moves:
            item = read_one(game, moves)
            if item.value is not None:
                raise UserError(
                    f"--moves {moves!r} reads as moves and the value {item.value:g} ({item.form}); give moves only"
                )
            if item.start is not None:
                first, self.start = item.start, game.format(item.start)
            if not item.actions and not game.same_position(item.state, first):
                raise UserError(f"--moves {moves!r} is a position; --start begins from one")
            actions = list(item.actions)
        self.states, self.actions = game.states(actions, first), actions

    def play(self, action: int) -> None:
        """Play an action."""
        self.states.append(self.game.step(self.states[-1], action))
        self.actions.append(action)

    def undo(self) -> bool:
        """Take back the last move of a person and all after it; False if nobody at the terminal has moved yet."""
        for ply in reversed(range(len(self.actions))):
            if self.game.current_player(self.states[ply]) not in self.agents:
                del self.states[ply + 1 :], self.actions[ply:]
                return True
        return False

    def record(self) -> GameRecord:
        """Return the game so far as a record."""
        return GameRecord.of_game(
            self.game, self.actions, self.states[-1], agents=self.specs, seeds=self.seeds, start=self.start
        )

    def save(self, path: Path) -> None:
        """Write the game, a transcript (.txt) or a line of JSON; FileExistsError for a file of another kind."""
        if is_database(path):
            raise RecordError(f"{path}: a game is saved as a transcript (.txt) or as a line of JSON, in no database")
        if path.suffix == ".txt":
            write_records(str(path), [self.record()])
            return
        text = self.record().to_json() + "\n"
        write_whole(path, lambda part: part.write_text(text, encoding="utf-8"), ours=is_record_file)

    def load(self, path: Path) -> None:
        """Go on with a saved game; RecordError, SpecError or OSError leave all as it was."""
        if not is_record_file(path) and path.suffix != ".txt":
            raise RecordError(f"{path}: no saved game, it holds no game record")
        found = list(read_records(str(path)))
        if len(found) != 1:
            raise RecordError(f"{path}: {len(found)} games; a saved game is one")
        (record,) = found
        game, states = record.make_game(), record.replay()
        agents = self._make_agents(game)
        self.close()
        self.game, self.agents, self.start = game, agents, record.start
        self.states, self.actions = states, list(record.actions)

    # -- the session --------------------------------------------------------------------------------------------------

    def run(self) -> int:
        """Play until the game is over or the person leaves; return the exit code."""
        self.greet()
        drawn = -1
        try:
            while True:
                state = self.states[-1]
                if drawn != len(self.actions):
                    print(self.game.draw(state), flush=True)
                    drawn = len(self.actions)
                if self.game.is_terminal(state):
                    print(self.verdict())
                    if len(self.agents) == 2 or not self.after_the_end():
                        return 0
                elif self.game.current_player(state) in self.agents:
                    self.agent_moves()
                elif self.person_moves():
                    drawn = -1
        except AgentFaultError as fault:
            print(shown(f"{self.who(fault.seat)} fails: {fault.ending.value}: {fault.detail}"))
            print(f"{self.who(1 - fault.seat)} wins by that")
            return FAILED
        except _Leave:
            print(f"goodbye; the game stands at: {self.game.format(self.states[-1])}")
            return 0
        except EOFError:
            print(f"\nno more input; the game stands at: {self.game.format(self.states[-1])}")
            return 0
        except KeyboardInterrupt:
            print(f"\nthe game stands at: {self.game.format(self.states[-1])}", flush=True)
            raise
        finally:
            self.close()

    def greet(self) -> None:
        """Say what is played, by whom, and how moves are written."""
        print(f"{game_title(self.game)}: {self.who(0)} begins, {self.who(1)} answers")
        if len(self.agents) < 2:
            print(f"A move is {self.game.notation.legend}. Type help for more.")

    def who(self, seat: int) -> str:
        """Name a seat."""
        return f"player_{seat} ({shown(self.specs[seat])})"

    def verdict(self) -> str:
        """Say how the game ended."""
        state = self.states[-1]
        winner, margin = self.game.winner(state), abs(self.game.margin(state))
        if winner is Outcome.DRAW:
            return "The game is drawn."
        by = "" if self.game.unit == "win" else f" by {margin} {self.game.unit}"
        return f"{self.who(int(winner))} wins{by}."

    def agent_moves(self) -> None:
        """Let the agent to move play, and tell its move."""
        state = self.states[-1]
        seat = self.game.current_player(state)
        with busy(f"player_{seat} thinks"):
            action = decide(self.agents[seat], self.game, state)
        self.tell_and_play(action)
        if self.delay:
            time.sleep(self.delay)

    def tell_and_play(self, action: int) -> None:
        """Play an action, telling its name, and who is skipped if somebody is."""
        game, state = self.game, self.states[-1]
        seat = game.current_player(state)
        print(f"{self.who(seat)} plays {game.action_to_text(state, action)}")
        self.play(action)
        after = self.states[-1]
        if game.current_player(after) == seat and not game.is_terminal(after):
            print(f"{self.who(1 - seat)} cannot move; {self.who(seat)} moves again")

    def person_moves(self) -> bool:
        """Ask until a move is made or the position has changed; whether it must be shown anew."""
        game, state = self.game, self.states[-1]
        text = self.read(f"player_{game.current_player(state)}> ")
        if text is None:
            return False
        changed = self.obey(text)
        if changed is not None:
            return changed
        try:
            action = game.text_to_action(state, text)
        except IllegalActionError as error:
            print(f"{shown(str(error))}\nA move is {game.notation.legend}; `moves` lists the legal ones.")
            return False
        self.tell_and_play(action)
        return False

    def after_the_end(self) -> bool:
        """Ask what to do with a finished game; whether there is something to play again."""
        print("The game is over: undo, save FILE, load FILE or quit.")
        while True:
            text = self.read("> ")
            if text is None:
                continue
            changed = self.obey(text)
            if changed:
                return True
            if changed is None:
                print("The game is over: undo, save FILE, load FILE or quit.")

    def read(self, prompt: str) -> str | None:
        """Read a line; None, and a word about it, if it is none to work with."""
        try:
            text = input(prompt).strip()
        except UnicodeDecodeError:
            print("That is no text.")
            return None
        if not text:
            print("Type a move, or help.")
            return None
        if len(text) > LONGEST_LINE:
            print(f"That line is too long ({len(text)} characters).")
            return None
        return text

    def obey(self, text: str) -> bool | None:
        """Do what a word asks for; True if the position must be shown anew, None if the text is no word of ours."""
        word, _, rest = text.partition(" ")
        word, rest = word.lower(), rest.strip()
        if word in ("quit", "exit", "q"):
            raise _Leave
        if word in ("help", "?", "h"):
            print(HELP.format(legend=self.game.notation.legend))
            return False
        if word == "moves":
            state = self.states[-1]
            print(" ".join(self.game.action_to_text(state, action) for action in self.game.legal_actions(state)))
            return False
        if word == "board":
            print(f"{self.game.draw(self.states[-1])}\n{self.game.format(self.states[-1])}")
            return False
        if word == "hint":
            print(self.hint())
            return False
        if word == "undo":
            if self.undo():
                return True
            print("There is no move of yours to take back.")
            return False
        if word in ("save", "load"):
            return self.file_command(word, rest)
        return None

    def file_command(self, word: str, rest: str) -> bool:
        """Save or load."""
        if not rest:
            print(f"{word} which file?")
            return False
        try:
            path = Path(rest).expanduser()
            if word == "save":
                self.save(path)
                print(shown(f"saved to {path}"))
                return False
            self.load(path)
        except OSError as error:
            print(shown(f"{rest}: {error.strerror}"))
        except RuntimeError as error:  # ~nobody
            print(shown(f"{rest}: {error}"))
        except (SpecError, UserError, ValueError) as error:  # damaged records, names that no file can have
            print(shown(str(error)))
        else:
            self.greet()
            return True
        return False

    def hint(self) -> str:
        """Return a good move in words: by exact values where they are in reach, else by a search."""
        game, state = self.game, self.states[-1]
        if game.is_terminal(state):
            return "the game is over"
        with busy("thinking"):
            try:
                values = make_oracle(game).action_values(state)
            except MissingExtraError:
                values = None  # the oracle needs what is not installed; a search does not
            action = decide(make_agent(HINT_AGENT, game), game, state) if values is None else -1
        if values is None:
            return f"{game.action_to_text(state, action)} (a search, not proved)"
        best = max(values.values())
        ranked = sorted(values.items(), key=lambda item: -item[1])
        named = ", ".join(f"{game.action_to_text(state, action)} {value:+g}" for action, value in ranked)
        good = " or ".join(game.action_to_text(state, action) for action, value in ranked if value == best)
        return f"{good} (exact values for you: {named})"


def shown(text: str) -> str:
    """Return a text so that any terminal can show it and none obeys it."""
    return visible(text.encode("utf-8", "backslashreplace").decode("utf-8"))
