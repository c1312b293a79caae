"""Papers of an invented source: `T/1/` counts questions, `»` offers options."""

from __future__ import annotations

import json
from collections.abc import Sequence

FACTS = (
    ("Suomen pääkaupunki", ("Turku", "Helsinki", "Oulu", "Vaasa"), "B"),
    ("Kuun kiertoaika Maan ympäri", ("päivä", "kuukausi", "vuosi", "viikko"), "B"),
    ("Veden kiehumispiste merenpinnalla", ("100 astetta", "50 astetta", "0 astetta", "70 astetta"), "A"),
    ("Suurin valtameri", ("Atlantti", "Intian valtameri", "Tyynimeri", "Jäämeri"), "C"),
    ("Kultaa merkitsee", ("Ag", "Fe", "Cu", "Au"), "D"),
)
LATER = (
    ("Norjan pääkaupunki", ("Bergen", "Oslo", "Tromssa", "Molde"), "B"),
    ("Maan kiertoaika Auringon ympäri", ("päivä", "kuukausi", "vuosi", "viikko"), "C"),
    ("Hopeaa merkitsee", ("Ag", "Fe", "Cu", "Au"), "A"),
)
KNOWN = (
    ("Which planet is nearest to the sun?", ("Mercury", "Venus", "Mars", "Saturn"), "A"),
    ("Which gas do plants take in?", ("oxygen", "carbon dioxide", "helium", "neon"), "B"),
)


def write_paper(facts: Sequence[tuple[str, Sequence[str], str]] = FACTS) -> str:
    """Two questions in a known form, others in an unknown one; the paper says how many."""
    lines = ["Loppukoe", f"Answer all {len(KNOWN) + len(facts)} questions.", "Part I Multiple choice"]
    for number, (stem, options, key) in enumerate(KNOWN, start=1):
        lines.append(f"{number}. {stem} ({key})")
        lines += [f"{letter}. {option}" for letter, option in zip("ABCD", options, strict=True)]
    lines.append("Osa: valitse oikea vaihtoehto")
    for number, (stem, offered, _) in enumerate(facts, start=1):
        lines.append(f"T/{number}/ {stem}")
        lines += [f"» {option}" for option in offered]
    lines.append("Oikeat rivit")
    lines.append(" ".join(f"{number}. {key}" for number, (_, _, key) in enumerate(facts, start=1)))
    return "\n".join(lines)


def mark_lines(text: str) -> str:
    """The four marks that a person needs for it, as the desk sends them."""
    wanted = (
        ("Osa: valitse", "heading", "single_choice"),
        ("T/1/", "number", None),
        ("» ", "option", None),
        ("Oikeat", "key", None),
    )
    return json.dumps(
        [{"place": text.index(begin), "role": role, "type": kind} for begin, role, kind in wanted]
    )
