"""An agent from another package: built, installed, and used by its name like our own."""

import json

import pytest


@pytest.fixture(scope="module")
def with_agent(installed, third_party_wheel):
    installed.install(third_party_wheel)
    return installed


def test_it_plays_in_a_tournament(with_agent):
    text = with_agent.command(
        "tournament", "connect-four", "-a", "random,last-column:from_end=2,last-column", "-n", "6", "--json"
    )
    agents = {entry["name"]: entry for entry in json.loads(text)["agents"]}
    assert set(agents) == {"random", "last-column:from_end=2", "last-column"}
    assert all(entry["faults"] == {"illegal": 0, "crash": 0, "timeout": 0} for entry in agents.values())


def test_it_is_listed_and_its_parameters_are_checked(with_agent):
    agents = {entry["name"]: entry for entry in json.loads(with_agent.command("games", "--json"))["agents"]}
    assert agents["last-column"]["parameters"] == ["from_end=1"]
    text = with_agent.call(
        "from board_agents import make_agent\nfrom board_envs import make_game\n"
        "from board_envs.types import SpecError\n"
        "for spec in ('last-column:from_end=0', 'last-column:depth=2', 'last-colum'):\n"
        "    try:\n        make_agent(spec, make_game('nim'))\n    except SpecError as error:\n        print(error)"
    )
    wrong_value, unknown, near = text.splitlines()
    assert "from_end is 1 or more" in wrong_value
    assert "'depth'" in unknown
    assert "from_end" in unknown
    assert "did you mean 'last-column'" in near


def test_an_environment_takes_it_as_opponent(with_agent):
    text = with_agent.call(
        "import board_envs, gymnasium\n"
        "env = gymnasium.make('board_envs/ConnectFour-v0', opponent='last-column', seat=0)\n"
        "env.reset(seed=0)\n"
        "observation = env.step(0)[0]\n"
        "print(observation[5, 6].tolist())"
    )
    assert text.strip() == "[0, 1]"
