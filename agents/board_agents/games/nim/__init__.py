"""Nim: the closed form, and the agents built on it."""
