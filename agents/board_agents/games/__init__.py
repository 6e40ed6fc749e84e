"""The agents' half of each game: its solver, oracle, agents and evaluations, one folder a game."""
