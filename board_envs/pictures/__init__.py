"""Pictures of positions: a list of shapes, and what draws it."""
