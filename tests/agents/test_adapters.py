"""Foreign agents: a person, Kaggle's, OpenSpiel's, programs that work and programs that do not, policy files."""

import copy
import pickle
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from board_agents import make_agent
from board_agents.agent import InputEndedError, observation_of
from board_agents.arena import play_game
from board_agents.arena.records.game_record import Ending
from board_agents.games.connect_four.kaggle_agent import KaggleAgent
from board_agents.players.human import HumanAgent
from board_agents.players.open_spiel import OpenSpielAgent
from board_agents.players.policy_files import _choose
from board_agents.players.program import ProgramAgent, ProgramCrashError, ProgramTimeoutError
from board_envs import make_game
from board_envs.types import IllegalActionError, PositionError, SpecError

CONNECT_FOUR = make_game("connect-four")

# -- a person -------------------------------------------------------------------------------------------------------


def typed(game, state, *lines):
    answers, said = iter(lines), []
    agent = HumanAgent(game, ask=lambda prompt: next(answers), tell=said.append)
    return agent.act({}, state), said


def test_a_person_is_asked_until_a_move_is_legal():
    # R126: columns are shown and read from 1; everything else is refused with the reason.
    state = CONNECT_FOUR.from_moves("111111")
    action, said = typed(CONNECT_FOUR, state, "0", "-1", "8", "x", "", "٣", "1", " 3 ")
    assert action == 2
    assert len(said) == 8
    assert all("Moves: 2 3 4 5 6 7" in text for text in said[1:])
    nim = make_game("nim")
    assert typed(nim, nim.initial_state(), "0:1", "1:0", "1:-1", "4:1", "1:4", "2:3")[0] == 5


def test_the_end_of_input_leaves():
    def ask(prompt):
        raise EOFError

    with pytest.raises(InputEndedError, match="end of input: player_0"):
        HumanAgent(CONNECT_FOUR, ask=ask, tell=lambda text: None).act({}, CONNECT_FOUR.initial_state())


def test_a_person_in_a_tournament_is_talked_to_apart_from_results(monkeypatch, capsys):
    lines = iter(["x", "3"])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(lines))
    assert make_agent("human", CONNECT_FOUR).act({}, CONNECT_FOUR.initial_state()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "move for player_0" in err
    assert "'x' is not a column" in err


# -- Kaggle ---------------------------------------------------------------------------------------------------------


def test_a_kaggle_agent_sees_its_board(tmp_path):
    seen = []

    def lowest_open(observation, configuration):
        seen.append((observation.board, observation["mark"], configuration.rows, configuration.columns))
        assert configuration.inarow == 4
        return next(column for column in range(configuration.columns) if observation.board[column] == 0)

    agent = KaggleAgent(CONNECT_FOUR, agent=lowest_open)
    state = CONNECT_FOUR.from_moves("11111124")
    assert agent.act(observation_of(CONNECT_FOUR, state)) == 1
    board, mark, rows, columns = seen[0]
    assert (mark, rows, columns, len(board)) == (1, 6, 7, 42)
    assert board[35:] == [1, 1, 0, 2, 0, 0, 0]
    assert board[0] == 2
    file = tmp_path / "submission.py"
    file.write_text("def helper(x):\n    return x\n\ndef agent(observation, configuration):\n    return helper(6)\n")
    assert make_agent(f'kaggle:agent="{file}"', CONNECT_FOUR).act({}, state) == 6
    assert KaggleAgent(CONNECT_FOUR, agent=lambda o, c: np.int64(4)).act({}, state) == 4
    with pytest.raises(IllegalActionError, match="answered 7"):
        KaggleAgent(CONNECT_FOUR, agent=lambda o, c: 7).act({}, state)
    for spec, says in (
        ("kaggle:agent=nothing.py", "no such file"),
        ("kaggle:agent=no.module:f", "No module"),
        ("kaggle:agent=math:pi", "is not a function"),
        ("kaggle", "missing "),
    ):
        with pytest.raises(SpecError, match=says):
            make_agent(spec, CONNECT_FOUR)
    with pytest.raises(SpecError, match="ConnectX"):
        make_agent(f'kaggle:agent="{file}"', make_game("nim"))


def test_kaggle_files_as_people_write_them(tmp_path):
    # One parameter, a module beside the file, and files that cannot be run: one line that says where.
    (tmp_path / "weights_beside.py").write_text("COLUMN = 5\n")
    file = tmp_path / "submission.py"
    file.write_text("from weights_beside import COLUMN\n\ndef agent(observation):\n    return COLUMN\n")
    state = CONNECT_FOUR.initial_state()
    assert make_agent(f'kaggle:agent="{file}"', CONNECT_FOUR).act({}, state) == 5
    assert make_agent(f'kaggle:agent="{file}:agent"', CONNECT_FOUR).act({}, state) == 5
    for source, says in (
        ("def agent(observation:\n", "line 1: "),
        ("x = 1\nimport no_such_module\n", "line 2: ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = 1\n", "defines no function"),
        ("def agent():\n    return 3\n", r"takes \(observation\) or \(observation, configuration\), not \(\)"),
        ("def agent(a, b, c):\n    return 3\n", r"not \(a, b, c\)"),
    ):
        file.write_text(source)
        with pytest.raises(SpecError, match=says) as error:
            make_agent(f'kaggle:agent="{file}"', CONNECT_FOUR)
        assert "\n" not in str(error.value)


def test_kaggle_files_keep_their_global_state_apart(tmp_path):
    file = tmp_path / "submission.py"
    file.write_text("calls = []\ndef agent(observation):\n    calls.append(1)\n    return len(calls)\n")
    one, two = (make_agent(f'kaggle:agent="{file}"', CONNECT_FOUR) for _ in range(2))
    state = CONNECT_FOUR.initial_state()
    assert [one.act({}, state), one.act({}, state), two.act({}, state)] == [1, 2, 1]


# -- OpenSpiel ------------------------------------------------------------------------------------------------------

OPEN_SPIEL = [
    CONNECT_FOUR,
    make_game("connect-four", rows=5, columns=4, connect=3),
    make_game("reversi"),
    make_game("nim", misere=True),
    make_game("awale", ruleset="abapa"),
]


@pytest.mark.parametrize("game", OPEN_SPIEL, ids=repr)
def test_open_spiel_bots_play_whole_games_after_an_opening(game):
    pytest.importorskip("pyspiel")
    for number, opening in enumerate(([], game.legal_actions(game.initial_state())[1:2])):
        record = play_game(
            game,
            ["open-spiel:bot=uniform-random", "open-spiel:simulations=5"],
            names=("chance", "search"),
            seeds=(number, 7),
            opening=opening,
        )
        assert record.ending is Ending.FINISHED, record.detail


def test_an_open_spiel_bot_is_seeded_and_can_be_copied():
    pytest.importorskip("pyspiel")
    agent = make_agent("open-spiel:simulations=30", CONNECT_FOUR)
    state, choices = CONNECT_FOUR.from_moves("44"), []
    for _ in range(2):
        agent.reset(5)
        choices.append(
            [each.act({}, state) for each in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent)), agent)]
        )
    assert choices[0] == choices[1]
    assert len(set(choices[0])) == 1


def test_open_spiel_takes_its_own_bots_and_no_unknown_games():
    pyspiel = pytest.importorskip("pyspiel")
    agent = OpenSpielAgent(CONNECT_FOUR, bot=lambda game, seed: pyspiel.make_uniform_random_bot(0, seed))
    assert 0 <= agent.act({}, CONNECT_FOUR.initial_state()) < 7
    with pytest.raises(SpecError, match="no game with the rules"):
        make_agent("open-spiel", make_game("reversi", size=6))
    with pytest.raises(SpecError, match="bot must be"):
        make_agent("open-spiel:bot=chess", CONNECT_FOUR)
    late = CONNECT_FOUR.from_moves("1111112222223333337777775")
    with pytest.raises(PositionError, match="near its start"):
        agent.act({}, late)


# -- programs -------------------------------------------------------------------------------------------------------

_GOOD = """
import sys
for line in sys.stdin:
    word, *fields = line.rstrip("\\n").split("\\t")
    if word in ("game", "new"):
        print("ready")
    elif word == "move":
        print(fields[1].split(" ")[-1])
    else:
        break
"""


@pytest.fixture
def program(tmp_path):
    def make(source, seconds=20.0, game=CONNECT_FOUR):
        path = tmp_path / f"program{len(list(tmp_path.iterdir()))}.py"
        path.write_text(textwrap.dedent(source))
        return ProgramAgent(game, command=f"{sys.executable} {path}", seconds=seconds)

    return make


@pytest.mark.parametrize("game", [CONNECT_FOUR, make_game("nim"), make_game("reversi"), make_game("awale")], ids=repr)
def test_a_program_plays(program, game):
    with program(_GOOD, game=game) as agent:
        for seed in range(2):
            agent.reset(seed)
            state = game.initial_state()
            for _ in range(2):
                action = agent.act({}, state)
                assert action == game.legal_actions(state)[-1]
                state = game.step(state, action)
        twin = pickle.loads(pickle.dumps(agent))
        assert twin.act({}, state) == agent.act({}, state)
        twin.close()
    assert agent._pipe is None
    agent.close()


def test_a_program_is_named_in_a_spec_and_plays_in_the_arena(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(_GOOD)
    record = play_game(
        CONNECT_FOUR, [f'program:command="{sys.executable} {path}",seconds=20', "random"], names=("program", "random")
    )
    assert record.ending is Ending.FINISHED


@pytest.mark.parametrize(
    ("source", "error", "ending", "says"),
    [
        ("import sys; sys.exit('out of ideas')", ProgramCrashError, Ending.CRASH, "exit code 1: out of ideas"),
        ("print('hello', flush=True)\nimport time; time.sleep(60)", ProgramCrashError, Ending.CRASH, "'hello'"),
        ("import time; time.sleep(60)", ProgramTimeoutError, Ending.TIMEOUT, "did not answer within 0.5 s"),
        (_GOOD.replace('fields[1].split(" ")[-1]', "8"), IllegalActionError, Ending.ILLEGAL, "'8' is not a column"),
        (_GOOD.replace('fields[1].split(" ")[-1]', "''"), IllegalActionError, Ending.ILLEGAL, "is not a column"),
        (_GOOD.replace('print(fields[1].split(" ")[-1])', "1 / 0"), ProgramCrashError, Ending.CRASH, "ZeroDivision"),
    ],
)
def test_a_program_that_fails_says_how_and_loses(program, source, error, ending, says):
    seconds = 0.5 if error is ProgramTimeoutError else 20.0
    agent = program(source, seconds=seconds)

    def one_move():
        agent.reset(0)
        agent.act({}, CONNECT_FOUR.initial_state())

    with pytest.raises(error, match=says):
        one_move()
    agent.close()
    record = play_game(CONNECT_FOUR, [program(source, seconds=seconds), "random"], names=("program", "random"))
    assert (record.ending, record.offender, record.winner) == (ending, 0, 1)


def test_what_a_program_started_does_not_hold_up_its_end(tmp_path):
    # A shell script that starts an engine: ending the shell leaves the engine, which has the pipes open.
    (tmp_path / "engine.py").write_text("import time; time.sleep(40)")
    (tmp_path / "start.sh").write_text(f"'{sys.executable}' '{tmp_path}/engine.py'\nexit 0\n")
    agent = ProgramAgent(CONNECT_FOUR, command=f"sh '{tmp_path}/start.sh'", seconds=0.5)
    before, begun = set(threading.enumerate()), time.monotonic()
    with pytest.raises(ProgramTimeoutError):
        agent.reset(0)
    assert time.monotonic() - begun < 20
    assert set(threading.enumerate()) <= before


_FLOODS = {
    # what a program does: what is said of it
    "while True: sys.stdout.write('y' * 65536)": (ProgramCrashError, "a line of more than 4096 bytes"),
    "print('ready')\nprint('ready')\nwhile True: print('a1')": (
        ProgramCrashError,
        "more than 64 unrequested lines",
    ),
    "while True: sys.stderr.write('y' * 65536)": (ProgramTimeoutError, "did not answer within 1 s"),
    "while True: sys.stderr.write('no\\n' * 65536)": (ProgramTimeoutError, "did not answer within 1 s"),
}


@pytest.mark.parametrize("source", _FLOODS)
def test_a_program_that_floods_is_ended_in_its_time_and_fills_no_memory(program, source):
    error, says = _FLOODS[source]
    agent = program(f"import sys\n{source}", seconds=1.0)
    resource = pytest.importorskip("resource")
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()

    def three_games():
        for _ in range(3):
            agent.reset(0)
            time.sleep(0.5)

    with pytest.raises(error, match=says):
        three_games()
    assert time.monotonic() - begun < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB; the flood is gigabytes


def test_a_program_that_does_not_read_is_ended_in_its_time(program):
    agent = program("import time\nprint('ready', flush=True)\nprint('ready', flush=True)\ntime.sleep(60)", seconds=1.0)
    agent.reset(0)
    begun = time.monotonic()
    with pytest.raises(ProgramTimeoutError, match="did not answer within 1 s"):
        agent._ask("x" * 10_000_000)  # no pipe holds that
    assert time.monotonic() - begun < 10


def test_what_a_program_started_ends_with_it(program, tmp_path):
    source = f"""
    import subprocess, sys
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    open({str(tmp_path / "child")!r}, "w").write(str(child.pid))
    """
    agent = program(textwrap.dedent(source) + _GOOD)
    agent.reset(0)
    agent.close()
    number, patience = int((tmp_path / "child").read_text()), time.monotonic() + 10
    while alive(number) and time.monotonic() < patience:
        time.sleep(0.01)
    assert not alive(number)


def alive(number):
    """Whether a process runs; one that ended and that nobody has asked for is as good as gone."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_program_is_ended_where_there_are_no_process_groups(program, monkeypatch):
    """As on Windows: what it started is then left alone, the program itself is not."""
    monkeypatch.delattr("os.killpg")
    agent = program("import time\nprint('ready', flush=True)\nprint('ready', flush=True)\ntime.sleep(60)", seconds=0.5)
    agent.reset(0)
    process = agent._pipe.process
    with pytest.raises(ProgramTimeoutError):
        agent.act({}, CONNECT_FOUR.initial_state())
    assert process.poll() is not None


def test_a_program_that_is_not_there(tmp_path):
    agent = ProgramAgent(CONNECT_FOUR, command=str(tmp_path / "nothing"))
    with pytest.raises(ProgramCrashError, match="cannot start"):
        agent.reset(0)
    for spec in ('program:command=""', "program:command=x,seconds=0", "program", 'program:command="\'"'):
        with pytest.raises(SpecError, match=r"empty|seconds must be a finite number above 0|missing|quotation"):
            make_agent(spec, CONNECT_FOUR)


def test_a_program_forgotten_is_ended(program):
    agent = program(_GOOD)
    agent.reset(0)
    process = agent._pipe.process
    del agent
    assert process.poll() is not None


# -- policies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deterministic", [True, False])
def test_masked_actions_are_never_chosen_whatever_the_policy_prefers(deterministic):
    # R050: the legal action has the lowest number of all.
    agent = make_agent("random", CONNECT_FOUR)
    agent.reset(0)
    preferences = np.array([50.0, -30.0, 50, 50, 50, 50, 50], np.float32)
    mask = np.array([0, 1, 0, 0, 0, 0, 0], np.int8)
    assert {_choose(agent, preferences, mask, deterministic) for _ in range(2000)} == {1}
    mask[0] = 1
    assert {_choose(agent, preferences, mask, deterministic) for _ in range(2000)} == {0}
    with pytest.raises(ValueError, match="nan"):
        _choose(agent, preferences * np.nan, mask, deterministic)


def test_sampling_follows_the_softmax():
    agent = make_agent("random", CONNECT_FOUR)
    agent.reset(3)
    preferences, mask = np.log(np.array([1.0, 2, 3, 4, 1, 1, 1])), np.array([1, 1, 1, 1, 0, 0, 0], np.int8)
    counts = np.bincount([_choose(agent, preferences, mask, False) for _ in range(4000)], minlength=7)
    assert np.abs(counts / 4000 - np.array([0.1, 0.2, 0.3, 0.4, 0, 0, 0])).max() < 0.04


@pytest.mark.parametrize("spec", ["torch:path=nothing.pt", "sb3:path=nothing.zip", "sb3:path=x,algorithm=SAC"])
def test_policies_that_are_not_there(spec):
    with pytest.raises(SpecError, match="no such file|algorithm must be one of"):
        make_agent(spec, CONNECT_FOUR)


def test_a_torch_policy_plays(tmp_path):
    torch = pytest.importorskip("torch")

    class Left(torch.nn.Module):
        def forward(self, x):
            return -torch.arange(7.0).repeat(x.shape[0], 1) + 0 * x.sum()

    example = (torch.zeros(1, 6, 7, 2),)
    exported = str(tmp_path / "policy.pt2")
    torch.export.save(torch.export.export(Left(), example), exported)
    agent = make_agent(f"torch:path={exported}", CONNECT_FOUR)
    assert agent.act({}, CONNECT_FOUR.from_moves("1")) == 0
    assert agent.act({}, CONNECT_FOUR.from_moves("111111")) == 1
    assert pickle.loads(pickle.dumps(agent)).act({}, CONNECT_FOUR.from_moves("111111")) == 1
