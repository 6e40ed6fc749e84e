"""The forms in which a player is given, and how each is read."""

import copy
import pickle

import pytest

import board_agents
from board_envs import make_game
from board_envs.policies import AgentBuilder, BatchPolicy, agent_builder, batch_policy, find_policy

GAME = make_game("nim")


class First:
    """An agent that plays the first legal action."""

    def __init__(self, game):
        self.game = game

    def reset(self, seed=None):
        """Begin a game."""

    def act(self, observation, state=None):
        """Return the first legal action."""
        return int(observation["action_mask"].argmax())


@agent_builder
def decorated(game):
    """Build an agent."""
    return First(game)


@batch_policy
def decorated_batch(boards, masks):
    """Return the first legal actions."""
    return masks.argmax(axis=1)


def policy(observation):
    return int(observation["action_mask"].argmax())


def find(given):
    return find_policy(given, GAME, lambda spec, game: (spec, game))


def test_every_form_is_read():
    agent = First(GAME)
    assert find("greedy") == ("greedy", GAME)
    assert find(agent) is agent
    assert find(policy) is policy
    assert find(decorated_batch) is decorated_batch
    for builder in (First, decorated, agent_builder(lambda game: First(game))):
        built = find(builder)
        assert isinstance(built, First)
        assert built.game is GAME
    assert find(agent_builder(lambda game: policy)) is policy
    assert find(agent_builder(lambda game: decorated_batch)) is decorated_batch


@pytest.mark.parametrize("declared", [decorated, decorated_batch, agent_builder(policy), batch_policy(policy)])
def test_declarations_survive_copies_and_pickles(declared):
    for again in (copy.deepcopy(declared), pickle.loads(pickle.dumps(declared))):
        assert type(again) is type(declared)
        assert again.function is declared.function
        assert again.__name__ == declared.function.__name__


def test_declared_functions_are_called_as_before():
    assert isinstance(decorated(GAME), First)
    assert isinstance(decorated, AgentBuilder)
    assert isinstance(decorated_batch, BatchPolicy)
    assert decorated.__doc__ == "Build an agent."
    assert board_agents.agent_builder is agent_builder
    assert board_agents.batch_policy is batch_policy


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "must be a spec string, an agent with act"),
        (None, "must be a spec string"),
        (lambda boards, masks: masks, "batch_policy"),
        (lambda: 0, "cannot be called with one observation"),
        (agent_builder(lambda game: None), "built None"),
        (agent_builder(lambda game: "greedy"), "built 'greedy'"),
        (int, "int"),
    ],
)
def test_other_forms_are_refused(given, message):
    with pytest.raises(TypeError, match=message):
        find(given)


@pytest.mark.parametrize("declare", [agent_builder, batch_policy])
def test_declarations_take_functions(declare):
    with pytest.raises(TypeError, match="takes a function, not 3"):
        declare(3)
