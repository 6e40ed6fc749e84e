"""Reports: the page in a real browser, its numbers against the records, JSON, CSV and the command."""

import csv
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

pytest.importorskip("matplotlib")

from board_agents import make_oracle
from board_agents.arena import play_game, tournament
from board_agents.arena.records.text_formats import write_records
from board_agents.arena.report.page import choose_games, replay_data, report_csv, report_data, report_html, sample
from board_agents.arena.statistics.quality import judge_records
from board_agents.cli import main
from board_envs import make_game
from board_envs.pictures.svg import svg

NIM = make_game("nim")
SMALL = make_game("connect-four", rows=4, columns=4, connect=3)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def records():
    games = tournament(SMALL, ["random", "greedy", "alpha-beta:depth=2,compiled=false"], games=6, seed=2).records
    wild = play_game(SMALL, [lambda observation: 77, "random"], names=("<wild> & co", "random"))
    return [*games, wild]


@pytest.fixture(scope="module")
def quality(records):
    return judge_records(records, make_oracle(SMALL, "exhaustive"))


@pytest.fixture(scope="module")
def page(records, quality):
    return report_html(SMALL, records, quality)


class Outline(HTMLParser):
    """Texts of table rows, and tags that were opened and closed."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open, self.addresses = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        self.open.append(tag)
        self.addresses += [value for key, value in attributes if key in ("src", "href", "xlink:href")]

    def handle_data(self, data):
        if self.rows and self.open and self.open[-1] in ("td", "th", "a", "br", "small"):
            self.rows[-1][-1] += data

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass


def dump(path, fragment=""):
    """The page's tree after its script ran, and what the browser said."""
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--virtual-time-budget=3000", "--dump-dom", f"file://{path}{fragment}"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "Uncaught" not in done.stderr, done.stderr
    return done.stdout


def shapes(text):
    """The shapes of an SVG picture, as texts that do not depend on how a browser writes empty elements."""
    return re.findall(r"<(?:rect|circle|text)[^>]*?(?=/?>)", text)


@browser
def test_the_page_shows_every_game_as_pictures_in_a_browser(tmp_path, page, records):
    path = tmp_path / "report.html"
    path.write_text(page, encoding="utf-8")
    for number, asked in ((1, 0), (3, 4), (len(records) - 1, 10**6)):
        record = records[number - 1]
        tree = dump(path, f"#game={number}&ply={asked}")
        board = re.search(r'<div id="board">(.*?)</div>', tree, re.S)[1]
        ply = min(asked, len(record.actions))
        assert shapes(board) == shapes(svg(SMALL, record.replay()[ply]))
        moves = re.search(r'<div id="moves">(.*?)</div>', tree, re.S)[1]
        assert moves.count("<button") == len(record.actions)
        assert moves.count('aria-current="true"') == (1 if ply else 0)
        assert moves.count('class="opening"') == len(record.opening)
        options = re.search(r'<select id="game">(.*?)</select>', tree, re.S)[1]
        assert options.count("<option") == len(records)


@browser
def test_names_are_no_markup(tmp_path, page):
    path = tmp_path / "report.html"
    path.write_text(page, encoding="utf-8")
    tree = dump(path)
    assert "<wild>" not in tree
    assert "&lt;wild&gt; &amp; co" in tree


def test_the_page_needs_nothing_else(page):
    addresses = [address for address in Outline(page).addresses if not address.startswith("#")]
    assert addresses == []
    hosts = {urlsplit(found).netloc for found in re.findall(r"https?://[^\s\"'<>]+", page)}
    assert hosts <= {"www.w3.org", "purl.org", "creativecommons.org", "matplotlib.org"}  # names of formats only
    assert "@import" not in page
    assert "url(http" not in page


def test_the_tables_say_what_the_records_say(page, records):
    rows = Outline(page).rows
    for name in ("random", "greedy", "alpha-beta:depth=2,compiled=false"):
        own = [r for r in records if name in r.agents]
        wins, draws = sum(r.winner == r.agents.index(name) for r in own), sum(r.winner == 2 for r in own)
        rating = next(row for row in rows if row[0] == name)
        assert f"{wins}/{draws}/{len(own) - wins - draws}" in rating
    wild = next(row for row in rows if row[0] == "<wild> & co")
    assert "1 illegal" in wild
    cross = next(row for row in rows if row[0] == "greedy" and len(row) == 5)
    assert cross.count("") == 2  # itself, and the one it never met


def test_longest_and_shortest_games_are_listed(page, records):
    rows = [row for row in Outline(page).rows if re.fullmatch(r"game \d+", row[0])]
    lengths = sorted(len(r.actions) for r in records if r.offender < 0)
    assert [int(row[3]) for row in rows] == lengths[::-1][:5] + lengths[:5]
    for row in rows:
        record = records[int(row[0].split()[1]) - 1]
        assert (list(record.agents), len(record.actions)) == (row[1:3], int(row[3]))


def test_the_same_records_give_the_same_page(page, records, quality):
    assert report_html(SMALL, records, quality) == page


def test_figures_are_there_for_what_there_is(records, page):
    titles = re.findall("<figcaption>(.*?)</figcaption>", page)
    assert titles == ["Ratings with 95 % intervals", "Results by seat", "Lengths of the games", "Mean regret by ply"]
    without = report_html(SMALL, records)
    assert "Mean regret by ply" not in without
    assert "Move quality" not in without
    capped = report_html(NIM, tournament(NIM, ["random", "greedy"], games=2, max_plies=2).records)
    assert re.findall("<figcaption>(.*?)</figcaption>", capped) == ["Lengths of the games"]
    assert "No game ended by the rules" in capped


def test_chosen_games_hold_the_extremes_and_the_faults(records):
    chosen = choose_games(records, 12)
    assert len(chosen) == 12
    lengths = {number: len(record.actions) for number, record in enumerate(records) if record.offender < 0}
    assert min(lengths, key=lengths.get) in chosen
    assert max(lengths.values()) in [lengths.get(number) for number in chosen]
    assert len(records) - 1 in chosen
    assert choose_games(records, 0) == []
    assert choose_games(records, 10**6) == list(range(len(records)))
    drawn = sample(records, 7)
    assert len(drawn) == 7
    assert drawn == sample(records, 7)
    assert drawn == [record for record in records if record in drawn]


def test_shapes_are_kept_once(records):
    data = replay_data(SMALL, records, [0, 1])
    assert len(set(data["shapes"])) == len(data["shapes"]) < 60
    game = data["games"][1]
    assert len(game["frames"]) == len(game["moves"]) + 1 == len(records[1].actions) + 1
    for frame, state in zip(game["frames"], records[1].replay(), strict=True):
        assert data["head"] + "".join(data["shapes"][shape] for shape in frame) + "</svg>" == svg(SMALL, state)


def test_json_and_csv_hold_the_numbers(records, quality):
    data = report_data(SMALL, records, quality)
    assert data["played"] == len(records)
    assert data["quality"]["random"]["total"] == quality["random"].total.to_dict()
    assert data["shortest"][0]["plies"] == min(len(r.actions) for r in records if r.offender < 0)
    rows = list(csv.DictReader(io.StringIO(report_csv(SMALL, records, quality))))
    assert [row["agent"] for row in rows] == [rating["rating"]["name"] for rating in sorted(
        data["agents"], key=lambda agent: (agent["rating"]["pool"], -agent["rating"]["rating"])
    )]  # fmt: skip
    greedy = next(row for row in rows if row["agent"] == "greedy")
    assert int(greedy["wins_begins"]) == sum(r.agents[0] == "greedy" and r.winner == 0 for r in records)
    assert float(greedy["share_optimal"]) == pytest.approx(quality["greedy"].total.share_optimal, abs=1e-4)
    assert int(next(row for row in rows if row["agent"] == "<wild> & co")["illegal"]) == 1


def test_the_command_writes_what_is_asked_for(tmp_path, capsys, records):
    source = tmp_path / "games.jsonl"
    write_records(str(source), records)
    outputs = [tmp_path / f"report.{suffix}" for suffix in ("html", "json", "csv")]
    options = [part for path in outputs for part in ("-o", str(path))]
    assert (
        main(
            [
                "report",
                str(source),
                *options,
                "--oracle",
                "exhaustive",
                "--judged",
                "4",
                "--title",
                "Small <boards>",
                "--replayed",
                "2",
            ]
        )
        == 0
    )
    assert "19 games" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.jsonl", *sorted(p.name for p in outputs)]
    page = outputs[0].read_text(encoding="utf-8")
    assert "<h1>Small &lt;boards&gt;</h1>" in page
    assert "2 can be replayed" in page
    assert json.loads(outputs[1].read_text())["quality"]["random"]["source"]["games"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.jsonl", "-o", "x.html"], "nothing.jsonl"),
        (["games.jsonl", "-o", "x.pdf"], "must be .html, .json or .csv"),
        (["games.jsonl", "-o", "x.html", "--judged", "-1"], "--judged must be 0 or more"),
        (["games.jsonl", "-o", "x.html"], "choose one with --game"),
        (["games.jsonl", "-o", "x.html", "--game", "awale"], "no games"),
        (["games.jsonl", "-o", "nowhere/x.csv", "--game", "nim", "--judged", "0"], "nowhere"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mixed = [play_game(game, ["random", "random"], names=("a", "b")) for game in (NIM, SMALL)]
    write_records("games.jsonl", mixed)
    assert main(["report", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
