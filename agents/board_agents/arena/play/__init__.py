"""Playing games: decisions, openings."""
