"""What the tests of the agents share: games, agents, positions."""

from board_envs import make_game
from board_envs.random import Stream

GAMES = [
    make_game("connect-four"),
    make_game("connect-four", rows=4, columns=5, connect=3),
    make_game("reversi"),
    make_game("reversi", size=4),
    make_game("awale"),
    make_game("awale", pits=4, seeds=3, ruleset="abapa"),
    make_game("nim"),
    make_game("nim", heaps=(2, 3, 4, 5), misere=True),
]
SPECS = [
    "random",
    "greedy",
    "greedy:ties=random",
    "minimax:depth=2",
    "alpha-beta:depth=3",
    "alpha-beta:depth=2,ties=random",
    "alpha-beta:depth=2,evaluation=margin",
    "mcts:simulations=12",
]


def random_positions(game, number, seed):
    """Unfinished positions of random games, with their history."""
    stream, states = Stream.seeded(seed), []
    while len(states) < number:
        state = game.initial_state()
        game_states = []
        while not game.is_terminal(state):
            game_states.append(state)
            legal = game.legal_actions(state)
            state = game.step(state, legal[stream.below(len(legal))])
        states.append(game_states[stream.below(len(game_states))])
    return states


def identify(state):
    """All of a state as plain data, a memory of positions included."""
    return tuple(value.tolist() if hasattr(value, "tolist") else value for value in state)
