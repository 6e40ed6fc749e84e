"""Exact play: closed forms, exhaustive search, tables and solvers."""
