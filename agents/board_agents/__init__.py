"""Agents, solvers and the arena for board_envs."""

from board_agents.agent import Agent, GameAgent
from board_agents.registry import as_agent, make_agent, make_oracle

__all__ = ["Agent", "GameAgent", "as_agent", "make_agent", "make_oracle"]
