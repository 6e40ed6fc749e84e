"""Aligned arrays, atomic files, processor instructions, interrupts: nothing here knows a game."""
