"""Agents for every game that do not search: random, human, external programs, policy files."""
