"""Agents, solvers and the arena for board_envs."""

from board_agents import _moved as _moved
from board_agents.agent import Agent, GameAgent
from board_agents.registry import as_agent, make_agent, make_oracle
from board_envs.policies import agent_builder, batch_policy

__all__ = ["Agent", "GameAgent", "agent_builder", "as_agent", "batch_policy", "make_agent", "make_oracle"]
