"""The programs of the source documents: each value they show against the documents' own.

Right values: tests/data/source_facts.json and search_seed_facts.json (worked out from the documents), and what stands
beside them here, by hand. The Awalé sheet is in tests/games/test_awale_configurations.py.
"""

import builtins
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from board_envs._jit import have_numba

TESTS = Path(__file__).parents[1]
FACTS = json.loads((TESTS / "data" / "source_facts.json").read_text(encoding="utf-8"))
SEARCH = json.loads((TESTS / "data" / "search_seed_facts.json").read_text(encoding="utf-8"))


def program(name):
    spec = importlib.util.spec_from_file_location(name, TESTS.parent / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain(value):
    """Return a value as JSON keeps it: tuples are lists."""
    return json.loads(json.dumps(value))


# -- Reversi ----------------------------------------------------------------------------------------------------------


def reversi_answers():
    found = {}
    for question, _, ours, answer in program("epita2024_reversi").answers():
        found.setdefault(question, []).append((ours, answer))
    return found


def test_the_reversi_document():
    facts, found = FACTS["reversi"], reversi_answers()
    answer = {question: one[0][1] for question, one in found.items()}
    start = answer["the grid at the start"]
    assert (start[3][4], start[4][3], start[3][3], start[4][4]) == (1, 1, -1, -1)
    assert sum(abs(cell) for row in start for cell in row) == 4
    assert answer["the square (8, a)"] == (7, 0)
    assert plain(answer["where J1 may play at the start"]) == facts["first_moves"]
    captures = [one for _, one in found["figure 3: what J1 captures, (dx, dy) -> discs"]]
    assert captures == [{(1, 0): 2}, {(1, 0): 1, (1, 1): 1}]
    # By hand: the disc placed on (2, 3), those below it and below it to the right turned over.
    assert answer["figure 4: the grid after (3, d)"] == [
        [0] * 8,
        [0] * 8,
        [0, 0, 0, 1, -1, 0, 0, 0],
        [0, -1, -1, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 1, 0, 0],
        [0] * 8,
        [0] * 8,
        [0] * 8,
    ]
    assert answer["J2 has no square, so J1 plays again"] == ([(0, 2)], [])
    assert answer["is the game over there, and after J1's move"] == (False, True)
    assert answer["score at the start and after d3"] == (0, facts["score_after_d3"])
    assert answer["frontier squares at the start and after d3"] == (
        facts["frontier_at_the_start"],
        facts["frontier_after_d3"],
    )


def test_the_search_of_the_reversi_document():
    module, answer = program("epita2024_reversi"), {q: one[0][1] for q, one in reversi_answers().items()}
    # After d3: black on d3, d4, e4 and d5, white on e5, each of weight -1.
    assert answer["f: the sum of p[i][j] F[i][j] after d3"] == 4 * -1 - -1
    # 4, 12 and 56 lines of one, two and three moves are Reversi's known leaf counts.
    assert answer["figure 5: positions and leaves 3 moves ahead"] == (1 + 4 + 12 + 56, 56)
    values = {move: slow_minimax(after, -1, 2, module.F) for move, after in first_moves().items()}
    assert answer["figure 6: the value of each first move"] == values
    best = max(values.values())
    assert answer["the move that J1 chooses, and its value"] == (next(m for m in values if values[m] == best), best)
    assert answer["the same by the agent"] == answer["the move that J1 chooses, and its value"][0]
    assert answer["the value of a game that J1 has won"] == 10000


def slow_moves(p, player):
    """Every playable square and the grid after it, by the document's definition, cell by cell."""
    after = {}
    for i in range(8):
        for j in range(8):
            turned = []
            for dx, dy in [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]:
                run, x, y = [], i + dx, j + dy
                while 0 <= x < 8 and 0 <= y < 8 and p[x][y] == -player:
                    run.append((x, y))
                    x, y = x + dx, y + dy
                if run and 0 <= x < 8 and 0 <= y < 8 and p[x][y] == player:
                    turned += run
            if p[i][j] == 0 and turned:
                grid = p.copy()
                for x, y in [(i, j), *turned]:
                    grid[x][y] = player
                after["abcdefgh"[j] + str(i + 1)] = grid
    return after


def first_moves():
    p = np.zeros((8, 8), int)
    p[3, 4] = p[4, 3] = 1
    p[3, 3] = p[4, 4] = -1
    return slow_moves(p, 1)


def slow_minimax(p, player, depth, weights):
    if depth == 0:
        return int((p * np.array(weights)).sum())
    values = [slow_minimax(after, -player, depth - 1, weights) for after in slow_moves(p, player).values()]
    return max(values) if player == 1 else min(values)


def test_the_codes_of_the_reversi_document():
    facts, found = FACTS["reversi"], reversi_answers()
    assert found["the code of the start"][0][1] == int(facts["code_start"])
    assert found["the code after d3"][0][1] == int(facts["code_after_d3"])
    assert found["bits of the largest code, all black"][0][1] == facts["code_bits"]
    assert found["a code gives its grid back"][0][1] is True


def test_the_database_of_the_reversi_document():
    pytest.importorskip("sqlalchemy")
    answer = {q: one[0][1] for q, one in reversi_answers().items()}
    assert answer["games that J1 has won"] == 1
    assert answer["J1's mean score"] == 13  # all thirteen discs are black after nine moves
    assert answer["positions analysed deeper than 1"] == 9  # one a move, each with a choice
    first = answer["the first of them"]
    assert first == {
        "code": int(FACTS["reversi"]["code_start"]),
        "depth": 2,
        "active": 1,
        "row": first["row"],
        "column": first["column"],
    }
    assert [first["row"], first["column"]] in FACTS["reversi"]["first_moves"]


def test_the_reversi_program_says_which_extra_its_database_needs(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("sqlalchemy"):
            raise ModuleNotFoundError(name)
        return real(name, *rest, **more)

    import sys

    for name in [name for name in sys.modules if name.startswith(("sqlalchemy", "board_agents.arena.records."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    assert "board-envs[records]" in reversi_answers()["the database"][0][1]


# -- Connect Four -----------------------------------------------------------------------------------------------------


def test_the_connect_four_document():
    facts, found = FACTS["connect_four"], {}
    for _, question, _, _, answer in program("nsi2026_puissance4").answers():
        found[question] = plain(answer) if question != "a node without children" else answer
    assert found["the empty grid"] == [[0] * 7] * 6
    assert found["a move: the new position"] == [[0] * 7] * 5 + [[0, 0, 1, 0, 0, 0, 0]]
    assert "legal: 0, 1, 2, 4, 5, 6" in found["a move in a full column"]
    assert found["the grid after three moves"] == facts["jeu1"]
    assert found["lines of four through the cell (0, 1)"] == 4
    assert found["lines of four through each cell"] == facts["valeur_case"]
    assert found["the values under jeu1's stones"] == [["player 2", 7], ["player 1", 5], ["player 1", 10]]
    assert found["the score of jeu1"] == facts["jeu1_score"] == 7 - (5 + 10)
    node = found["a node without children"]
    assert (node.column, node.score, node.children) == (3, 0, ())
    scores = SEARCH["connect_four"]["minimax_empty_player_1"]["2"][2]
    assert found["the child of the lowest score"] == [scores.index(min(scores)), min(scores)]
    assert found["the child of the highest score"] == [scores.index(max(scores)), max(scores)]
    assert found["figure 3: columns of the root's children"] == [-1, [0, 1, 2, 3, 4, 5, 6]]
    assert found["who has won, of an unfinished and a finished grid"] == [-1, 0]
    for title, key in (
        ("the empty grid, player 1", "minimax_empty_player_1"),
        ("jeu1, player 2", "minimax_example_player_2"),
    ):
        for level in range(1, 5):
            value, _, scores = SEARCH["connect_four"][key][str(level)]
            question = f"{title}, niveau_max = {level}: score, scores of the columns"
            assert found[question] == [value, scores]
    assert found["nodes of the tree to each level up to 4"] == SEARCH["connect_four"]["tree_nodes"]
    assert found["columns to the power of all 42 moves"] == 7**42
    columns = [SEARCH["connect_four"][key]["4"][1] for key in ("minimax_empty_player_1", "minimax_example_player_2")]
    assert found["the columns chosen with niveau_max = 4"] == columns


# -- Nim --------------------------------------------------------------------------------------------------------------


def test_the_nim_notebook():
    facts, found = SEARCH["nim"], {}
    for _, question, _, _, answer in program("nim_notebook").answers():
        found[question] = plain(answer)
    assert found["the three positions"] == [[3, 4, 5], [0, 0, 0], [1, 0, 2]]
    of_345 = [[heap, count] for heap, size in enumerate((3, 4, 5)) for count in range(1, size + 1)]
    assert found["their moves"] == [of_345, [], [[0, 1], [2, 1], [2, 2]]]
    assert found["[3, 4, 5] after (0, 1)"] == [2, 4, 5]
    assert "from heap 1 one takes 1 to 3 objects" in found["taking more than there is"]
    assert found["the first heuristic"] == [12, 0, 3]
    assert found["which of them are final"] == [False, True, False]
    assert found["the cost of a move"] == 1
    assert found["moves from (1, 0, 2)"] == [[0, 0, 2], [1, 0, 1], [1, 0, 0]]
    assert found["the path of A* from (4, 8, 5)"] == facts["astar_4_8_5"]
    assert found["the path of A* from (3, 4, 5)"] == facts["astar_3_4_5"]
    assert found["the path of the example node"] == [[3, 4, 5], [3, 4, 4], [3, 4, 0]]
    assert found["what the machine leaves of [3, 4, 5] and [0, 4, 0]"] == [[3, 4, 0], [0, 0, 0]]
    # 3 xor 4 xor 5 is 2: taking two of the first heap is the only move to zero. 1 xor 2 xor 3 is 0.
    assert found["winning moves from [3, 4, 5] and [1, 2, 3]"] == [1, 0]
    assert found["the improved heuristic"] == [12, 100, 106]


def test_winning_moves_found_in_nim():
    won, found = program("nim_notebook").winning_moves_found()
    assert won == SEARCH["nim"]["N_positions_heaps_le_7"] == 448
    assert found == {
        "nim-astar": SEARCH["nim"]["astar_plays_winning_move"],
        "nim-astar:heuristic=sum": 91,  # by the notebook's code with its first heuristic
        "minimax:depth=2": 85,
        "nim-xor": 448,
    }


# -- Awalé ------------------------------------------------------------------------------------------------------------


def test_the_awale_sheet_draws_configurations_with_both_rows_of_numbers():
    exam = program("ens2016_awale")
    # Question 4 a and d of the sheet.
    assert exam.sheet((0, 0, 1, 2, 1, 1, 2, 0)) == [
        "(7) (6) (5) (4)",
        " 0   2   1   1",
        " 0   0   1   2",
        "(0) (1) (2) (3)",
    ]
    assert [row.split() for row in exam.sheet((5, 0, 3, 0, 2, 0, 14, 0))[1:3]] == [
        ["0", "14", "0", "2"],
        ["5", "0", "3", "0"],
    ]
    assert list(exam.QUESTIONS) == [str(number) for number in range(1, 13)]


def test_scores_that_become_stable_in_an_iteration_are_bounded_by_it():
    """Oral question 7: during iteration l no score exceeds n - l, so a bound of n - l is the score."""
    exam = program("ens2016_awale")
    from board_envs.games.awale.configurations import configurations, coup, gain, playable, rotation

    tables = {seeds: {} for seeds in range(6)}
    for seeds, table in tables.items():
        start = {}
        for one in configurations(4, seeds):
            bound, missing = -seeds, 0
            for pit in playable(one):
                taken = gain(one, pit)
                missing += not taken
                if taken:
                    bound = max(bound, taken - tables[seeds - taken][rotation(coup(one, pit))])
            start[one] = missing, bound
        stable = exam.converge(start, seeds)
        assert all(abs(score) <= seeds - iteration for iteration, score in stable.values())
        table.update({one: stable[one][1] if one in stable else 0 for one in start})
        # What stays unstable is a mat: 9, 57 and 41 configurations of 2, 3 and 4 seeds, nothing else.
        assert len(start) - len(stable) == {2: 9, 3: 57, 4: 41}.get(seeds, 0)


@pytest.mark.parametrize("name", ["epita2024_reversi", "nsi2026_puissance4", "nim_notebook", "ens2016_awale"])
def test_each_program_prints(name, capsys, monkeypatch, tmp_path):
    module = program(name)
    svg = tmp_path / "tree.svg"
    drawn = ["--svg", str(svg)] if name in ("epita2024_reversi", "nsi2026_puissance4") else []
    monkeypatch.setattr("sys.argv", [f"{name}.py", *drawn])
    module.main()
    printed = capsys.readouterr().out
    wanted = {
        "epita2024_reversi": "1716841910146156209742278746641",
        "nsi2026_puissance4": "7**42\n    311973482284542371301330321821976049",
        "nim_notebook": "nim-astar                 22\n",
        "ens2016_awale": "Q12: a) -4  b) 1  c) 4\n" if have_numba() else "Q12: not answered: ",
    }
    assert wanted[name] in printed
    assert not drawn or svg.read_text(encoding="utf-8").startswith("<svg ")
