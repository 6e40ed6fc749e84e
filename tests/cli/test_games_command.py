import json

import pytest

from board_envs import GAMES, make_game


@pytest.mark.parametrize("name", GAMES)
def test_a_game_lists_its_forms(run, name):
    forms = json.loads(run("games", name, "--json")[1])["games"][0]["forms"]
    assert [form["name"] for form in forms] == [form.name for form in make_game(name).forms]
    assert all(form["description"] for form in forms)
    text = run("games", name)[1]
    assert f"Forms of {name}" in text
    for form in forms:
        assert f"│ {form['name']}{' *' if form['written'] else ''} " in text
    assert "Forms of" not in run("games")[1]
