"""Suites of positions with exact values."""
