"""One agent in every form in which one can be given: the same games and the same judgement wherever it is given."""

import sys
import textwrap
import threading
import warnings

import gymnasium
import numpy as np
import pytest

from board_agents import make_agent
from board_agents.agent import observation_of
from board_agents.arena import play_game, tournament
from board_agents.arena.suites.suite_files import judge_on_suite, load_suite
from board_agents.arena.tournament import name_entrants, plan, play
from board_agents.arena.workers import play_parallel
from board_agents.registry import as_agent
from board_envs import make_game
from board_envs.policies import agent_builder, batch_policy
from board_envs.types import SpecError

NIM = make_game("nim")

CODE = '''
import numpy as np

class First:
    """Plays the first legal action, or the one `skip` further on."""

    def __init__(self, game, *, skip: int = 0):
        self.game, self.skip = game, skip

    def reset(self, seed=None):
        pass

    def act(self, observation, state=None):
        legal = np.flatnonzero(observation["action_mask"])
        return int(legal[min(self.skip, len(legal) - 1)])

class Short:
    """The same without `reset` and without a state."""

    def act(self, observation):
        return int(np.argmax(observation["action_mask"]))

def policy(observation):
    return int(np.argmax(observation["action_mask"]))

def batch(boards, masks):
    assert boards.shape[0] == masks.shape[0] and boards.dtype == masks.dtype == np.int8
    return masks.argmax(axis=1)

def build(game):
    return First(game)
'''
NAMES = {}
exec(CODE, NAMES)
First, Short, policy, batch, build = (NAMES[name] for name in ("First", "Short", "policy", "batch", "build"))


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """The code as a file and as a module that Python can import."""
    folder = tmp_path_factory.mktemp("code")
    text = CODE + textwrap.dedent("""
        from board_envs.policies import agent_builder, batch_policy
        builder = agent_builder(build)
        many = batch_policy(batch)
        instance = Short()
        number = 3
        """)
    (folder / "file.py").write_text(text)
    (folder / "module_of_agents.py").write_text(text)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


FORMS = {
    "object": First(NIM),
    "object with act alone": Short(),
    "class": First,
    "builder": agent_builder(build),
    "builder of a policy": agent_builder(lambda game: policy),
    "policy": policy,
    "batch": batch_policy(batch),
}
SPECS = [
    "file.py:First",
    "file.py:First:skip=0",
    "file.py:policy",
    "file.py:builder",
    "file.py:many",
    "file.py:instance",
    "module_of_agents:First:skip=0",
    "module_of_agents:policy",
]


def every_form(folder):
    return FORMS | {spec: f"{folder}/{spec}" if spec.startswith("file") else spec for spec in SPECS}


def test_every_form_is_judged_alike(code):
    suite = load_suite(NIM)
    expected = None
    for name, form in every_form(code).items():
        total = judge_on_suite(form, suite, name="first").total
        assert (total.decisions, total.faults) == (len(suite.positions), 0), name
        expected = expected or total
        assert total == expected, name


def test_every_form_plays_alike_in_one_process_and_in_workers(code):
    forms = every_form(code)
    result = tournament(NIM, {"first": FORMS["object"], "random": "random"}, games=4, seed=3)
    tasks = plan(NIM, ["first", "random"], 4, seed=3)
    for name, form in forms.items():
        entrants = {"first": form, "random": "random"}
        assert list(play(NIM, entrants, tasks)) == list(result.records), name
        assert as_agent(form, NIM).act(observation_of(NIM, NIM.initial_state()), NIM.initial_state()) == 0
    for name in ("object", "class", "policy", "batch", "file.py:First:skip=0", "file.py:instance"):
        entrants = {"first": forms[name], "random": "random"}
        assert list(play_parallel(NIM, entrants, tasks, workers=2)) == list(result.records), name


def test_a_file_is_an_opponent_too(code):
    env = gymnasium.make("board_envs/Nim-v0", opponent=f"{code}/file.py:First:skip=1", disable_env_checker=True)
    env.reset(seed=1)
    _, _, _, _, info = env.step(0)
    assert info["plies"] == 2


def test_parameters_reach_a_class_of_a_file(code):
    agent = make_agent(f'"{code}/file.py":First:skip=2', NIM)
    assert agent.skip == 2
    with pytest.raises(SpecError, match="skip must be an integer, not 'x'"):
        make_agent(f"{code}/file.py:First:skip=x", NIM)
    with pytest.raises(SpecError, match="unknown parameter 'depth'; parameters: skip"):
        make_agent(f"{code}/file.py:First:depth=2", NIM)
    with pytest.raises(SpecError, match="only classes and builders take parameters"):
        make_agent(f"{code}/file.py:policy:depth=2", NIM)


@pytest.mark.parametrize("form", [3, None, batch, lambda: 0])
def test_what_is_no_agent_is_refused_before_anything_is_played(form):
    suite = load_suite(NIM)
    with pytest.raises(TypeError, match="must be a spec string|cannot be called with one observation"):
        judge_on_suite(form, suite, name="x")
    with pytest.raises(TypeError, match="must be a spec string|cannot be called with one observation"):
        tournament(NIM, {"x": form, "random": "random"}, games=2)
    with pytest.raises(TypeError, match="must be a spec string|cannot be called with one observation"):
        play_game(NIM, ["random", form], names=("random", "x"))


def test_an_unknown_spec_is_no_lost_game():
    with pytest.raises(SpecError, match="unknown agent 'gready' \\(did you mean 'greedy'\\?\\)"):
        play_game(NIM, ["random", "gready"], names=("random", "x"))


def test_a_builder_without_its_declaration_works_with_a_warning_that_points_at_the_caller():
    def make(game):
        return First(game)

    for run in (
        lambda: tournament(NIM, {"first": make, "random": "random"}, games=2, seed=3),
        lambda: judge_on_suite(make, load_suite(NIM), name="first"),
        lambda: play_game(NIM, [make, "random"], names=("first", "random")),
    ):
        with pytest.warns(DeprecationWarning, match="agent_builder") as caught:
            run()
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tournament(NIM, {"first": agent_builder(make), "random": "random"}, games=2, seed=3)


class Counting(First):
    """Remembers the games it began."""

    def __init__(self, game):
        super().__init__(game)
        self.games = 0

    def reset(self, seed=None):
        self.games += 1


def test_an_agent_object_is_copied_for_each_game():
    agent = Counting(NIM)
    result = tournament(NIM, {"a": agent, "b": agent}, games=2)
    assert all(record.offender < 0 for record in result.records)
    assert agent.games == 0
    agent.lock = threading.Lock()  # cannot be copied
    with pytest.raises(SpecError, match="cannot be copied for a game .*lock.*agent_builder"):
        tournament(NIM, {"a": agent, "random": "random"}, games=2)
    result = tournament(NIM, {"a": agent_builder(lambda game: agent), "random": "random"}, games=2)
    assert len(result.records) == agent.games == 2


def test_what_cannot_be_sent_to_workers_is_named():
    lock = threading.Lock()
    with pytest.raises(SpecError, match="agent 'locked' cannot be sent to workers"):
        next(
            play_parallel(
                NIM,
                {"random": "random", "locked": lambda observation: lock and 0},
                plan(NIM, ["random", "locked"], 1),
                workers=2,
            )
        )


def test_a_plain_list_names_its_agents():
    agents = name_entrants(["random", policy, First, Short(), Short(), "random"])
    assert list(agents) == ["random", "policy", "First", "Short", "Short#2", "random#2"]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nothing.py:agent", "no such file"),
        ("file.py:agnt", "has no 'agnt'; names: First, Short, policy, batch, build"),
        ("file.py:number", "must be a spec string, an agent with act"),
        ("file.py:batch", "cannot be called with one observation; batch_policy"),
        ("no_such_module:agent", "No module named 'no_such_module'"),
        ("mcst:simulations", "No module named 'mcst'; did you mean the agent 'mcts'"),
        ("syntax.py:agent", r"syntax.py: line 2: "),
        ("raises.py:agent", r"raises.py: line 3: ZeroDivisionError: division by zero"),
        ("exits.py:agent", r"exits.py: line 1: SystemExit: 3"),
        ("broken.py:Broken", "RuntimeError: no weights"),
    ],
)
def test_foreign_code_that_fails_is_told_in_one_line(code, spec, says):
    (code / "syntax.py").write_text("x = 1\ndef agent(:\n")
    (code / "raises.py").write_text("x = 1\n\n1 / 0\n")
    (code / "exits.py").write_text("raise SystemExit(3)\n")
    (code / "broken.py").write_text(
        "class Broken:\n    def __init__(self, game):\n        raise RuntimeError('no weights')\n"
    )
    with pytest.raises(SpecError, match=says) as error:
        make_agent(f"{code}/{spec}" if ".py" in spec else spec, NIM)
    assert "\n" not in str(error.value)


def test_a_file_is_run_once_until_it_changes_and_its_neighbours_are_its_own(tmp_path):
    for name, action in (("a", 0), ("b", 1)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "neighbour.py").write_text(f"ACTION = {action}\n")
        (folder / "mine.py").write_text("import neighbour\ndef play(observation):\n    return neighbour.ACTION\n")
    seen = observation_of(NIM, NIM.initial_state())
    for name, action in (("a", 0), ("b", 1), ("a", 0)):
        assert make_agent(f"{tmp_path / name}/mine.py:play", NIM).act(seen) == action
    one, two = (make_agent(f"{tmp_path}/a/mine.py:play", NIM) for _ in range(2))
    assert one.function is two.function
    (tmp_path / "a" / "mine.py").write_text("def play(observation):\n    return 10\n")
    assert make_agent(f"{tmp_path}/a/mine.py:play", NIM).act(seen) == 10
    assert "neighbour" not in sys.modules


def test_an_evaluation_may_be_a_file(tmp_path):
    (tmp_path / "values.py").write_text("def none(state):\n    return 0\n")
    game = make_game("connect-four")
    agent = make_agent(f'minimax:depth=1,evaluation="{tmp_path}/values.py:none"', game)
    assert set(agent.analyse(game.initial_state()).values.values()) == {0}
    assert np.isfinite(agent.analyse(game.initial_state()).value)
