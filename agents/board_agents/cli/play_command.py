"""``board-envs play``: play a game at the terminal: people, agents, or both."""

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
"""Exit code when an agent's error ended the game."""

HELP = """\
  a move         play it ({legend})
  moves          list the legal moves
  board          show the position, as a drawing and as text
  hint           show a good move, and the values of all moves if known
  undo           take back your last move and the replies to it
  save FILE      write the game to a file
  load FILE      continue a game from a file
  help, quit     show this text, leave"""


class _Leave(Exception):  # noqa: N818  # not an error: the person quits
    """The person quits the session."""


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="A game's name; leave it out with --load.")
    ] = None,
    opponent: Annotated[
        str,
        typer.Option("--opponent", "-o", metavar="SPEC", help="The opponent; `human` for a second person."),
    ] = "greedy",
    player: Annotated[
        str, typer.Option(metavar="SPEC", help="Player in your seat; with an agent here you watch.")
    ] = HUMAN,
    seat: Annotated[str, typer.Option(help="Your seat: 0 (moves first), 1 or random.")] = "0",
    param: Parameters = None,
    start: Annotated[str, typer.Option(metavar="POSITION", help="Start from this position.")] = "",
    moves: Annotated[str, typer.Option(metavar="MOVES", help="Moves to play first, in the game's notation.")] = "",
    load: Annotated[Path | None, typer.Option(metavar="FILE", help="Continue a saved game.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed, for a random seat and for the agents.")] = None,
    delay: Annotated[float, typer.Option(help="Seconds to wait after an agent's move.")] = 0.0,
) -> int:
    """Play in the terminal; type `help` there for the commands."""
    if load is not None and (name or param or start or moves):
        raise UserError("--load excludes GAME, --param, --start and --moves")
    if load is None and name is None:
        raise UserError("missing GAME; `board-envs games` lists the games")
    if seat not in ("0", "1", "random"):
        raise UserError(f"--seat must be 0, 1 or random, not {seat!r}")
    if not 0 <= delay <= LONGEST_DELAY:
        raise UserError(f"--delay must be 0 to {LONGEST_DELAY} seconds, not {delay}")
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
    """A game in progress at the terminal.

    Attributes:
        game: the game.
        states: the positions so far, including the initial one.
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
        """Create and reset the agents; raise SpecError or UserError for one that fails."""
        agents = {seat: build_agent(spec, game) for seat, spec in enumerate(self.specs) if spec != HUMAN}
        try:
            for seat, agent in agents.items():
                guarded(seat, partial(agent.reset, seed=self.seeds[seat]))
        except AgentFaultError as fault:
            raise UserError(f"{self.who(fault.seat)} cannot start: {fault.detail}") from fault
        return agents

    def close(self) -> None:
        """Close agents that keep a program or a file open."""
        for agent in self.agents.values():
            close_agent(agent)

    # -- playing a game ---------------------------------------------------------------------------------------------

    def begin(self, start: str, moves: str) -> None:
        """Set up the initial position, and play moves given as text."""
        game = self.game
        self.start = own_text(game, start) if start else ""
        first, actions = game.parse(start) if start else game.initial_state(), list[int]()
        if start and moves:
            actions = game.read_moves(moves, first)
        elif moves:
            item = read_one(game, moves)
            if item.value is not None:
                raise UserError(
                    f"--moves {moves!r} contains the value {item.value:g} besides moves ({item.form}); give moves only"
                )
            if item.start is not None:
                first, self.start = item.start, game.format(item.start)
            if not item.actions and not game.same_position(item.state, first):
                raise UserError(f"--moves {moves!r} is a position; use --start")
            actions = list(item.actions)
        self.states, self.actions = game.states(actions, first), actions

    def play(self, action: int) -> None:
        """Play an action."""
        self.states.append(self.game.step(self.states[-1], action))
        self.actions.append(action)

    def undo(self) -> bool:
        """Take back the last move of a person and all later ones; return False if no person has moved yet."""
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
        """Write the game as a transcript (.txt) or a line of JSON; raise FileExistsError for a file of another kind."""
        if is_database(path):
            raise RecordError(f"{path}: a game is saved as a transcript (.txt) or as JSON (.jsonl), not in a database")
        if path.suffix == ".txt":
            write_records(str(path), [self.record()])
            return
        text = self.record().to_json() + "\n"
        write_whole(path, lambda part: part.write_text(text, encoding="utf-8"), ours=is_record_file)

    def load(self, path: Path) -> None:
        """Continue a saved game; on RecordError, SpecError or OSError nothing changes."""
        if not is_record_file(path) and path.suffix != ".txt":
            raise RecordError(f"{path}: not a saved game, it contains no game record")
        found = list(read_records(str(path)))
        if len(found) != 1:
            raise RecordError(f"{path}: contains {len(found)} games; a saved game is exactly one")
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
            print(f"{self.who(1 - fault.seat)} wins by forfeit")
            return FAILED
        except _Leave:
            print(f"goodbye; the position is: {self.game.format(self.states[-1])}")
            return 0
        except EOFError:
            print(f"\nend of input; the position is: {self.game.format(self.states[-1])}")
            return 0
        except KeyboardInterrupt:
            print(f"\nthe position is: {self.game.format(self.states[-1])}", flush=True)
            raise
        finally:
            self.close()

    def greet(self) -> None:
        """Print the game, the players, and how moves are written."""
        print(f"{game_title(self.game)}: {self.who(0)} moves first, {self.who(1)} second")
        if len(self.agents) < 2:
            print(f"A move is {self.game.notation.legend}. Type help for more.")

    def who(self, seat: int) -> str:
        """Return the name of a seat."""
        return f"player_{seat} ({shown(self.specs[seat])})"

    def verdict(self) -> str:
        """Describe how the game ended."""
        state = self.states[-1]
        winner, margin = self.game.winner(state), abs(self.game.margin(state))
        if winner is Outcome.DRAW:
            return "The game is drawn."
        by = "" if self.game.unit == "win" else f" by {margin} {self.game.unit}"
        return f"{self.who(int(winner))} wins{by}."

    def agent_moves(self) -> None:
        """Let the agent to move play, and print its move."""
        state = self.states[-1]
        seat = self.game.current_player(state)
        with busy(f"player_{seat} thinks"):
            action = decide(self.agents[seat], self.game, state)
        self.tell_and_play(action)
        if self.delay:
            time.sleep(self.delay)

    def tell_and_play(self, action: int) -> None:
        """Play an action; print it, and a passed turn if there is one."""
        game, state = self.game, self.states[-1]
        seat = game.current_player(state)
        print(f"{self.who(seat)} plays {game.action_to_text(state, action)}")
        self.play(action)
        after = self.states[-1]
        if game.current_player(after) == seat and not game.is_terminal(after):
            print(f"{self.who(1 - seat)} cannot move; {self.who(seat)} moves again")

    def person_moves(self) -> bool:
        """Ask until the position changes; return whether to show it again."""
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
        """Ask what to do with a finished game; return whether play continues."""
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
        """Read a line; if it is unusable, print why and return None."""
        try:
            text = input(prompt).strip()
        except UnicodeDecodeError:
            print("That is not valid text.")
            return None
        if not text:
            print("Type a move or help.")
            return None
        if len(text) > LONGEST_LINE:
            print(f"That line is too long: {len(text)} characters.")
            return None
        return text

    def obey(self, text: str) -> bool | None:
        """Run a command; return True if the position must be shown again, None if the text is not a command."""
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
            print("You have no move to take back.")
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
        except RuntimeError as error:  # home folder of an unknown user (~nobody)
            print(shown(f"{rest}: {error}"))
        except (SpecError, UserError, ValueError) as error:  # damaged records, invalid file names
            print(shown(str(error)))
        else:
            self.greet()
            return True
        return False

    def hint(self) -> str:
        """Return a good move as text: by exact values where they are known, else by a search."""
        game, state = self.game, self.states[-1]
        if game.is_terminal(state):
            return "the game is over"
        with busy("thinking"):
            try:
                values = make_oracle(game).action_values(state)
            except MissingExtraError:
                values = None  # the oracle needs an extra that is not installed; a search does not
            action = decide(make_agent(HINT_AGENT, game), game, state) if values is None else -1
        if values is None:
            return f"{game.action_to_text(state, action)} (from a search, not exact)"
        best = max(values.values())
        ranked = sorted(values.items(), key=lambda item: -item[1])
        named = ", ".join(f"{game.action_to_text(state, action)} {value:+g}" for action, value in ranked)
        good = " or ".join(game.action_to_text(state, action) for action, value in ranked if value == best)
        return f"{good} (exact values for you: {named})"


def shown(text: str) -> str:
    """Return a text with characters that the terminal cannot show, or would interpret, escaped."""
    return visible(text.encode("utf-8", "backslashreplace").decode("utf-8"))
