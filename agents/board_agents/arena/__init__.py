"""The arena: games between agents, recorded, counted and rated."""

from board_agents.arena.play.decisions import play_game
from board_agents.arena.play.openings import Opening, make_openings, read_openings
from board_agents.arena.records.game_record import Ending, GameRecord, RecordError
from board_agents.arena.statistics.ratings import Rating, Ratings, rate
from board_agents.arena.statistics.tally import Pair, Standing, Tally, pairs, standings
from board_agents.arena.tournament import Result, plan, summarise, tournament

__all__ = [
    "Ending",
    "GameRecord",
    "Opening",
    "Pair",
    "Rating",
    "Ratings",
    "RecordError",
    "Result",
    "Standing",
    "Tally",
    "make_openings",
    "pairs",
    "plan",
    "play_game",
    "rate",
    "read_openings",
    "standings",
    "summarise",
    "tournament",
]
