"""Tallies, ratings, sequential tests, move quality."""
