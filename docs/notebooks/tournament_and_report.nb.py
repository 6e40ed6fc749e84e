# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     name: python3
#     display_name: Python 3
#     language: python
# ---

# %% [markdown]
# # Tournament and report
#
# Paired games from seeded openings, a rating with its interval, and the judgement of every move by exact play.

# %%
import tempfile

from board_agents import make_oracle
from board_agents.arena import tournament
from board_agents.arena.records.text_formats import read_records, write_records
from board_agents.arena.statistics.quality import judge_records
from board_envs import make_game

game = make_game("connect-four", rows=4, columns=5, connect=3)
result = tournament(game, ["random", "greedy", "alpha-beta:depth=4"], games=20, seed=1)

# %% [markdown]
# ## Who won, and how sure that is
#
# Every opening is played from both seats. Ratings are one joint fit; `random` is the anchor.

# %%
for standing in result.standings:
    print(f"{standing.name:20} {standing.total}")
for name in ("random", "greedy", "alpha-beta:depth=4"):
    rating = result.ratings.of(name)
    print(f"{name:20} {rating.rating:+.0f} Elo, 95 % between {rating.low:+.0f} and {rating.high:+.0f}")

# %% [markdown]
# ## How good in truth
#
# The records hold every move, so that an oracle can judge them afterwards.

# %%
judged = judge_records(result.records, make_oracle(game))
for name, report in judged.items():
    print(f"{name:20} perfect moves {report.total.share_optimal:.0%}, mean regret {report.total.mean_regret:.2f}")
assert judged["alpha-beta:depth=4"].total.share_optimal > judged["random"].total.share_optimal

# %% [markdown]
# ## A report
#
# `board-envs tournament ... --records games.jsonl` keeps games in a file, and `board-envs report` makes a page of figures of it
# (extra `records`); the [arena's page](../arena.md) explains the numbers.

# %%
with tempfile.TemporaryDirectory() as folder:
    write_records(f"{folder}/games.jsonl", result.records)
    again = list(read_records(f"{folder}/games.jsonl"))
assert [record.actions for record in again] == [record.actions for record in result.records]
print(len(again), "games read back")
