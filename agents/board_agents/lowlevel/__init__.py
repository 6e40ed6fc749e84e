"""Aligned arrays, atomic files, processor instructions, interrupts; independent of any game."""
