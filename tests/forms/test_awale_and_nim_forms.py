"""Forms of Awalé and of Nim."""

import pytest

from board_envs import make_game
from board_envs.forms import read_one, write_text
from board_envs.types import IllegalActionError, PositionError

AWALE = make_game("awale")
NIM = make_game("nim")


def test_pits_as_letters():
    # Sown anticlockwise: south's A is its leftmost pit, north's a follows south's F.
    item = read_one(AWALE, "CfA")
    assert (item.form, item.actions) == ("letters", (2, 5, 0))
    assert item.state == AWALE.from_moves("2 5 0") == AWALE.from_moves("C,f,A") == AWALE.from_moves(["C", "5", "A"])
    assert write_text(AWALE, [item], "letters") == "CfA\n"
    with pytest.raises(IllegalActionError, match=r"move 1 \('c'\): 'c' is a pit of player_1, and player_0 is to move"):
        AWALE.from_moves("cf")
    with pytest.raises(IllegalActionError, match=r"move 2 \('F'\): 'F' is a pit of player_0, and player_1 is to move"):
        AWALE.from_moves("CF")
    with pytest.raises(IllegalActionError, match=r"'G' is not a pit; the mover's pits are 0 to 5, or A to F"):
        AWALE.from_moves("G")


@pytest.mark.parametrize("moves", ["03 1", "03,1", "0 31", "0,,1", "0;1", "٣"])
def test_a_pit_is_one_character(moves):
    with pytest.raises(IllegalActionError):
        AWALE.from_moves(moves)


def test_positions_between_dashes():
    start = AWALE.parse("4-4-4-4-4-4-4-4-4-4-4-4-0-0-S")
    assert start == AWALE.initial_state()
    # After C: the pit is empty and the next four have one more; north is to move.
    after = AWALE.from_moves("C")
    assert AWALE.parse("4-4-0-5-5-5-5-4-4-4-4-4-0-0-N") == AWALE.parse(AWALE.format(after))
    item = read_one(AWALE, "4-4-0-5-5-5-5-4-4-4-4-4-0-0-n")
    assert item.form == "dashes"
    assert AWALE.format(item.state) == "5,4,4,4,4,4,4,4,0,5,5,5;0,0 1"
    stores = AWALE.parse("4-4-4-4-4-4-4-4-4-4-4-0-3-1-N")
    assert (AWALE.margin(stores), AWALE.current_player(stores)) == (2, 1)
    assert write_text(AWALE, [item], "dashes") == "4-4-0-5-5-5-5-4-4-4-4-4-0-0-N\n"
    small = make_game("awale", pits=3, seeds=2)
    assert small.parse("2-2-2-2-2-2-0-0-S") == small.initial_state()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4-4-4-4-4-4-4-4-4-4-4-4-0-S", "12 pits, two stores"),
        ("4-4-4-4-4-4-4-4-4-4-4-4-0-0-E", "S or N"),
        ("4-4-4-4-4-4-4-4-4-4-4-4-1-0-S", "are not 48"),
        ("4-4-4-4-4-4-4-4-4-4-4-9999-0-0-S", "12 pits"),
    ],
)
def test_dashes_that_are_refused(text, message):
    with pytest.raises(PositionError, match=message):
        AWALE.parse(text)


@pytest.mark.parametrize(
    "text", ["1 4 2", "1-4-2", "[1, 4, 2]", "1, 4, 2", "1,4,2", "(1,4,2)", "[1,4,2] 0", " 1  4 2 ", "1-4-2 0"]
)
def test_heaps(text):
    assert NIM.parse(text) == NIM.parse("1,4,2 0")


def test_the_seat_to_move_beside_heaps():
    assert NIM.parse("[1, 4, 2] 1") == NIM.parse("1-4-2 1") == NIM.parse("1, 4, 2 1") == NIM.parse("1,4,2 1")
    for text in ("1 4 2 1", "1 4", "[1 4 2]", "1-4,2", "1, 4, 2 2", "1 4 9"):
        with pytest.raises(PositionError):
            NIM.parse(text)
    two = make_game("nim", heaps=(3, 3))
    assert two.parse("3 1") == two.parse("3,1 0")
    one = make_game("nim", heaps=(3,))
    assert one.parse("3 1") == one.parse("[3] 1")
    assert one.current_player(one.parse("3 1")) == 1


def test_nim_moves_between_commas():
    assert NIM.read_moves("1:2, 2:3") == NIM.read_moves("1:2 2:3") == NIM.read_moves(["1:2", "2:3"])
    with pytest.raises(IllegalActionError):
        NIM.read_moves("1:2,2:3 3:1")
