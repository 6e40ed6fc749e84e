"""examples/train_reversi_evaluation.py, very small: what it writes, and that a stopped run goes on."""

import json

import numpy as np
import pytest

pytest.importorskip("numba")
pytest.importorskip("matplotlib", reason="needs the extra 'records'")
pytest.importorskip("typer", reason="needs the extra 'cli'")

import train_reversi_evaluation as training

from board_agents.games.reversi.pattern_evaluation import Evaluation

ROUNDS = (training.Round(40, 0, 8), training.Round(40, 2, 8))


def test_a_run_leaves_weights_log_and_curve_and_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    whole = training.train(tmp_path / "whole", ROUNDS, workers=2, seed=1, spread_positions=2)
    names = {path.name for path in (tmp_path / "whole").iterdir()}
    assert {"evaluation.weights", "log.jsonl", "curve.png", "round-0.weights", "round-1.weights"} <= names
    lines = [json.loads(line) for line in (tmp_path / "whole" / "log.jsonl").read_text().splitlines()]
    assert [line["round"] for line in lines] == [0, 1]
    assert all(line["positions"] > 100 for line in lines)
    assert set(whole.facts["spreads"]) == {"16", "24", "32", "40"}

    real, calls = training.play_games, []

    def stop_after_30(*arguments):
        calls.append(arguments)
        if len(calls) > 30:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(training, "play_games", stop_after_30)
    with pytest.raises(KeyboardInterrupt):
        training.train(tmp_path / "stopped", ROUNDS, workers=1, seed=1, spread_positions=2)
    monkeypatch.setattr(training, "play_games", lambda *arguments: calls.append(arguments) or real(*arguments))
    calls.clear()
    training.train(tmp_path / "stopped", ROUNDS, workers=1, seed=1, spread_positions=2)
    assert 0 < len(calls) <= 12  # what was there was not played again
    again = Evaluation.load(tmp_path / "stopped" / "evaluation.weights")
    stored = Evaluation.load(tmp_path / "whole" / "evaluation.weights")
    assert (again.weights == stored.weights).all()
    assert np.abs(stored.weights).max() > 0
