"""Agents that work for every game and search nothing: random, human, external programs, policy files."""
