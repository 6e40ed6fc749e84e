"""Agents, solvers and the arena for board_envs."""
