"""The games, one folder each: rules, observation, notation, and the Game that joins them."""
