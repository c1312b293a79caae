"""A leaked text on a published bank: what is found in it, and whom the command names."""

from __future__ import annotations

import io
import json
import random
from itertools import permutations
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import polars as pl
import pytest
from PIL import Image, ImageDraw
from sqlalchemy import select

from schemas.settings import Settings
from schemas.tables import get_table
from tasks.contamination.leaked_texts import EXACT, REWORDED, find_questions, split_text
from tasks.ingest.originals import take_picture
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from tests.warehouse.bank_rows import BANK, split_bank
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.lake import Lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import access_log

THINGS = [
    "copper",
    "granite",
    "willow",
    "lantern",
    "harbour",
    "saddle",
    "velvet",
    "orchid",
    "compass",
    "glacier",
    "thimble",
    "pepper",
]
PLACES = [
    "Norwich",
    "Toledo",
    "Bergen",
    "Lisbon",
    "Krakow",
    "Ghent",
    "Tartu",
    "Siena",
    "Basel",
    "Leiden",
    "Malmo",
    "Porto",
]
# No two of them share more than their grammar.
STEMS = [
    f"Which {thing} was traded through {place} before the {place} {thing} guild had closed its hall?"
    for thing in THINGS
    for place in PLACES
]


# These questions show a picture each, the first two the same.
PICTURED = range(36, 46)


def draw(place: int) -> Image.Image:
    image = Image.new("L", (320, 240), "white")
    rng = random.Random(max(place, PICTURED[1]))
    for _ in range(6):
        corners = [(rng.randrange(320), rng.randrange(240)) for _ in range(3)]
        ImageDraw.Draw(image).polygon(corners, fill=rng.randrange(160), outline="black")
    return image


def save(image: Image.Image, form: str = "PNG") -> bytes:
    out = io.BytesIO()
    image.save(out, form)
    return out.getvalue()


def land_pictures(lake: Lake, settings: Settings) -> dict[int, list[dict[str, object]]]:
    """The pictures of those questions, in archive and lake; by place what each one shows."""
    made = {place: take_picture(settings, save(draw(place))) for place in PICTURED}
    rows = [one.row for one in made.values()]
    table = get_table("pictures")
    lake.land("pictures", "p", fill_rows(table, rows).drop("landing_unit").unique("sha256"))
    return {place: [{"number": 1, "sha256": one.sha256, "place": "stem"}] for place, one in made.items()}


def land_meetings(lake: Lake, met: dict[str, list[tuple[str, str]]]) -> None:
    """One set for each organisation, of (lineage, question)."""
    sessions = [
        {
            "session_id": name,
            "run_id": "r",
            "month": "2025-06",
            "set_id": name,
            "model": name,
            "organisation": name,
            "status": "closed",
            "is_simulated": False,
            "is_reference": False,
        }
        for name in met
    ]
    sets = [
        {
            "set_id": name,
            "bank_version": 1,
            "lineage_uuid": lineage,
            "question_uuid": question,
            "discipline": "Law",
            "is_simulated": False,
        }
        for name, pairs in met.items()
        for lineage, question in pairs
    ]
    for table, rows in (("sessions", sessions), ("sets", sets)):
        lake.land(table, "r", fill_rows(get_table(table), rows).drop("landing_unit"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten organisations have met twelve of 144 lineages each; the last two the same ones."""
    folder = tmp_path_factory.mktemp("trace") / "home"
    settings = Settings(home=folder)
    with open_new_lake(settings) as lake:
        shown = land_pictures(lake, settings)
        originals = [str(uuid5(NAMESPACE_URL, stem)) for stem in STEMS]
        rows = [
            {
                "bank_version": 1,
                "question_uuid": name,
                "lineage_uuid": name,
                "discipline": "Law",
                "question_type": "short_answer",
                "stem": stem,
                "options": [],
                "pictures": shown.get(place),
            }
            for place, (name, stem) in enumerate(zip(originals, STEMS, strict=True))
        ]
        for table, frame in split_bank(fill_rows(BANK, rows)).items():
            lake.land(table, "1", frame)
        groups = [originals[12 * place : 12 * place + 12] for place in range(9)]
        met = {f"org{place}": [(name, name) for name in group] for place, group in enumerate(groups)}
        land_meetings(lake, {**met, "twin": met["org8"]})
    assert invoke(folder, "init", "--json").exit_code == 0
    return folder


def write_leak(places: range) -> str:
    return "\n".join(f"{number}. {STEMS[place]}" for number, place in enumerate(places, start=1))


def test_who_leaked_what_it_had_met_is_named_and_the_look_is_in_the_audit_log(
    home: Path, tmp_path: Path
) -> None:
    leaked = tmp_path / "leaked.txt"
    leaked.write_text(write_leak(range(24, 33)) + "\n\nNothing of the bank: a recipe for plum cake.\n")
    done = invoke(home, "exam", "trace", str(leaked), "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["accused"]) == (3, ["org2"])
    assert report["unmatched"] == [10]
    assert len(report["matches"]) == 9
    assert {row["organisation"] for match in report["matches"] for row in match["met_by"]} == {"org2"}
    assert report["organisations"][0]["probability"] > 0.99 > 1e3 * report["organisations"][1]["probability"]
    assert "plum" not in done.stdout and "guild" not in done.stdout
    with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as ledger, ledger.read() as connection:
        looks = connection.execute(
            select(access_log.c.target, access_log.c.digest).where(access_log.c.action == "trace")
        ).all()
    assert len(looks) == 1 and looks[0].digest is not None
    assert invoke(home, "exam", "audit").exit_code == 0


def test_pictures_saved_again_in_another_size_and_format_name_who_met_their_questions(
    home: Path, tmp_path: Path
) -> None:
    leaked = [tmp_path / f"{place}.jpg" for place in [*PICTURED[1:], 99]]
    for path in leaked:
        path.write_bytes(save(draw(int(path.stem)).resize((200, 150)), "JPEG"))
    given = [part for path in leaked for part in ("--picture", str(path))]
    done = invoke(home, "exam", "trace", *given, "--json")
    report = json.loads(done.stdout)
    # The first is shown by two lineages, the last by none: they point to nobody.
    assert [match["piece"] for match in report["matches"]] == list(range(2, 10))
    assert {match["method"] for match in report["matches"]} == {"picture"}
    assert (done.exit_code, report["accused"], report["unmatched"]) == (3, ["org3"], [1, 10])
    (tmp_path / "text.jpg").write_text("no picture")
    refused = invoke(home, "exam", "trace", "--picture", str(tmp_path / "text.jpg"))
    assert (refused.exit_code, "The picture cannot be kept" in refused.stderr) == (2, True)


def test_of_a_picture_without_end_no_more_is_read_than_shows_that_it_is_too_large(home: Path) -> None:
    refused = invoke(home, "exam", "trace", "--picture", "/dev/zero")
    assert (refused.exit_code, refused.stderr) == (2, "Error: /dev/zero: The picture has more than 20 MB.\n")


def test_who_met_the_same_cannot_be_told_apart_and_nobody_is_accused(home: Path) -> None:
    done = invoke(home, "exam", "trace", write_leak(range(96, 105)), "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["accused"]) == (0, [])
    first, second = report["organisations"][:2]
    assert [first["organisation"], second["organisation"]] == ["org8", "twin"]
    assert first["probability"] == pytest.approx(second["probability"])
    assert (first["alike"], second["alike"]) == (["twin"], ["org8"])


def test_questions_that_nobody_met_point_to_nobody(home: Path) -> None:
    done = invoke(home, "exam", "trace", write_leak(range(120, 130)))
    assert done.exit_code == 0
    assert "Nobody reaches 99%: nobody is accused." in done.stdout
    assert invoke(home, "exam", "trace", "  ").exit_code == 2
    mistyped = invoke(home, "exam", "trace", "leakd.txt")
    assert (mistyped.exit_code, "There is no file leakd.txt" in mistyped.stderr) == (2, True)


def make_bank(*rows: tuple[str, str, str]) -> pl.DataFrame:
    schema = {"question_uuid": pl.String, "lineage_uuid": pl.String, "stem": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        pl.lit(None, pl.String).alias("material"),
        pl.lit([], pl.List(pl.Struct({"label": pl.String, "text": pl.String}))).alias("options"),
    )


def test_wordings_are_told_apart_where_they_differ_and_the_reworded_found_by_rare_words() -> None:
    bank = make_bank(
        ("q1", "l1", "在我国，成年人的年龄界限是多少周岁，由哪一部法律规定？"),
        ("q2", "l1", "哪一部法律规定了成年人的年龄界限，具体为多少周岁（中国）？"),
        ("q3", "l2", "联合国的主要司法机关设在荷兰海牙，它的名称是什么？"),
        ("q4", "l3", "简述罪刑法定原则的含义及其在刑法中的主要体现。"),
        *((f"x{n}", f"y{n}", f"{stem}") for n, stem in enumerate(STEMS)),
    )
    text = "1、在我國，成年人的年齡界限是多少周歲，由哪一部法律規定？\n2、联合国的主要司法机关设在海牙（荷兰），其叫作什么名称\n3、今天的天气怎么样？"
    pieces = split_text(text)
    assert len(pieces) == 3
    found = [
        (match.piece, match.lineage_uuid, match.question_uuid, match.method)
        for match in find_questions(pieces, bank)
    ]
    assert found == [(0, "l1", "q1", EXACT), (1, "l2", None, REWORDED)]


LONG_OPTIONS = [
    f"The court {verb} the appeal that was lodged from {place}, whatever reasons the {thing} guild and its heirs had given before"
    for verb, place, thing in zip(
        ("dismisses", "hears", "refers", "stays"), PLACES[:4], THINGS[:4], strict=True
    )
]


def make_orders(options: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """A bank of one lineage with each order of the options (q0, q1, …), each leaked as a text."""
    stem = "Which of the following holds for the appeal that was lodged late?"
    orders = [
        [{"label": label, "text": text} for label, text in zip("ABCD", order, strict=True)]
        for order in permutations(options)
    ]
    bank = make_bank(*((f"q{number}", "l1", stem) for number in range(len(orders))))
    shown = ["\n".join(f"{option['label']}. {option['text']}" for option in order) for order in orders]
    return bank.with_columns(options=pl.Series(orders)), [f"7. {stem}\n{text}" for text in shown]


@pytest.mark.parametrize("options", [["copper", "granite", "willow", "lantern"], LONG_OPTIONS])
def test_every_order_of_the_options_is_told_from_the_others(options: list[str]) -> None:
    bank, texts = make_orders(options)
    for number, text in enumerate(texts):
        found = find_questions(split_text(text), bank)
        assert [(match.question_uuid, match.method) for match in found] == [(f"q{number}", EXACT)]


def test_an_order_that_was_never_put_is_taken_for_no_other() -> None:
    bank, texts = make_orders(LONG_OPTIONS)
    (match,) = find_questions(split_text(texts[-1]), bank[:-1])
    assert (match.lineage_uuid, match.question_uuid) == ("l1", None)
