"""Search that works for every game: evaluations, minimax and alpha-beta, Monte Carlo tree search, exhaustive search."""
