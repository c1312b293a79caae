"""How often a key stays in what a candidate would read, in 40 small papers made with marks.

    python -m tests.benchmarks.ingest_key_marks [--half 1|2] [--show]

Every paper asks eight questions, in one of six languages and six formats, and shows its keys by one mark of the list
below: at the right option, at one place of each stem, or below the options. Which, is drawn; the first half of the papers
is to be mended on, the other is measured only. A key stays where a mark is left in the stem or an option of a question of a
paper that is not held.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.ingest_accuracy import read_landed
from tests.tasks.ingest.builders import make_docx, make_xlsx

# stem: right answer, three wrong ones
_BANKS = {
    "en": """What drives the mill in winter?|the north wind|the sea breeze|the mill pond|a steam engine
Who keeps the lamp of the harbour?|the keeper|the miller|the mayor|the smith
What does the ferry carry?|wool|salt|grain|stone
Where does the river rise?|in the hills|in the marsh|at the quay|by the mill
When is the fair held?|in June|in May|in July|in autumn
Which tool mends a net?|a needle|a hammer|a chisel|a saw
How is the salt dried?|on open pans|in an oven|under a roof|by pressure
Why was the old bridge closed?|its arch had cracked|it was sold|it was too low|nobody used it""",
    "zh": """磨坊冬天靠什么转动？|北风|海风|水塘|蒸汽机
港口的灯由谁看管？|守灯人|磨坊主|镇长|铁匠
渡船运送的货物是？|羊毛|盐|谷物|石料
这条河发源于何处？|山中|沼泽|码头|磨坊旁
集市在什么时候举行？|六月|五月|七月|秋季
补网用哪一种工具？|梭针|锤子|凿子|锯子
盐是怎样晒干的？|露天盐盘|烤炉|棚下|加压
旧桥为什么关闭？|桥拱开裂|已被出售|桥面太低|无人使用""",
    "de": """Was treibt die Mühle im Winter?|der Nordwind|die Seebrise|der Teich|eine Dampfmaschine
Wer hütet das Licht im Hafen?|der Wärter|der Müller|der Vogt|der Schmied
Was bringt die Fähre?|Wolle|Salz|Korn|Stein
Wo entspringt der Fluss?|in den Bergen|im Moor|am Kai|bei der Mühle
Wann ist der Markt?|im Juni|im Mai|im Juli|im Herbst
Womit flickt man ein Netz?|mit einer Nadel|mit einem Hammer|mit einem Meißel|mit einer Säge
Wie wird das Salz trocken?|auf offenen Pfannen|in einem Ofen|unter einem Dach|durch Druck
Warum ist die Brücke gesperrt?|ihr Bogen ist gerissen|sie ist verkauft|sie ist zu niedrig|niemand nutzt sie""",
    "es": """¿Qué mueve el molino en invierno?|el viento norte|la brisa|el estanque|una máquina
¿Quién cuida la luz del puerto?|el farero|el molinero|el alcalde|el herrero
¿Qué lleva la barca?|lana|sal|grano|piedra
¿Dónde nace el río?|en la sierra|en la laguna|en el muelle|junto al molino
¿Cuándo es la feria?|en junio|en mayo|en julio|en otoño
¿Con qué se repara una red?|con una aguja|con un martillo|con un cincel|con una sierra
¿Cómo se seca la sal?|en balsas abiertas|en un horno|bajo techo|a presión
¿Por qué se cerró el puente?|se agrietó su arco|se vendió|era muy bajo|nadie lo usaba""",
    "ru": """Что вращает мельницу зимой?|северный ветер|морской бриз|пруд|паровая машина
Кто хранит огонь в гавани?|смотритель|мельник|староста|кузнец
Что везёт паром?|шерсть|соль|зерно|камень
Где начинается река?|в горах|в болоте|у причала|у мельницы
Когда бывает ярмарка?|в июне|в мае|в июле|осенью
Чем чинят сеть?|иглой|молотком|долотом|пилой
Как сушат соль?|на открытых противнях|в печи|под крышей|давлением
Почему мост закрыт?|треснула арка|он продан|он слишком низок|им не пользуются""",
    "fr": """Qu'est-ce qui fait tourner le moulin en hiver ?|le vent du nord|la brise|l'étang|une machine
Qui garde le feu du port ?|le gardien|le meunier|le maire|le forgeron
Que transporte le bac ?|de la laine|du sel|du grain|de la pierre
Où naît la rivière ?|dans les collines|dans le marais|sur le quai|près du moulin
Quand a lieu la foire ?|en juin|en mai|en juillet|en automne
Avec quoi répare-t-on un filet ?|une aiguille|un marteau|un burin|une scie
Comment sèche le sel ?|sur des bassins|dans un four|sous un toit|par pression
Pourquoi le pont est-il fermé ?|son arche est fendue|il est vendu|il est trop bas|il ne sert plus""",
}
# at the right option; a bar parts what the wrong ones have
_AT_OPTIONS = (
    "{} <-- correct", "{} (correct)", "{} （正确）", "{} [richtig]", "{} √", "{} *", "* {}", "**{}**", "{} ✅", "✓ {}",
    "-> {}", "{} <=", "{} // right", "{} (верно)", "{} ← sí", "[x] {}|[ ] {}", "{} (1)|{} (0)", "{} - vrai|{} - faux",
    "+ {}|- {}", "{} +", "={}", "{} @@", "{} ###", "<b>{}</b>", "__{}__", "{} (!)", "{} bonne réponse", "TRUE: {}",
    "{} 【答案】", "{} ◄", "{} {{ok}}", "{} [100%]", "{} [100]|{} [0]", "~{}~", "{} ;;", "{} ♦", "{} – this one", "►{}",
    "{} (bonne réponse)", "{} 对|{} 错", "{} 正确答案", "[[{}]]", "{} \\checkmark", "{} (X)", "{}  R", "%100% {}|%0% {}",
)  # fmt: skip
# at a stem (s) or below the options (b): K is the letter, k the small one, T the text, N the number of the option
_AT_STEMS = (
    "{s} (k)", "{s} [K]", "{s} {{K}}", "{s} <K>", "{s} Ans: K", "{s} -- K", "{s} #K", "[K] {s}", "K | {s}", "(k) {s}", "{s} (ans. k)",
    "{s} (T)", "{s} [T]", "{s} key=K", "{s} ==> K", "{s} /K/", "{s} (R: K)", "{s} K!", "{s} «K»", "{s} (答案K)", "{s} ^K", "{s} — T",
    "{s}  K", "{s} （选K）", "{s} (N. Antwort)", "{s} solution k", "K> {s}", "{s} *K*",
)  # fmt: skip
_BELOW = (
    "^^ K", "Lös.: K", "r/ k", "正解はK", "(K)", "sol. K", "--> T", "Ключ K", "K ist richtig", "bonne lettre : K", "[T]", "x K x",
    "→ N", "答 K", "» K «", "Réponse K) T", "Antwort = K", "K ✔", "(T)", "correcta=k",
)  # fmt: skip
_LABELS = ("{}. ", "{}) ", "({}) ", "{}、")
_NUMBERS = ("{}. ", "{}) ", "Q{}: ", "{}、")
_FORMATS = ("txt", "md", "html", "docx", "xlsx", "json")


@dataclass(frozen=True)
class Paper:
    """A made paper: what it holds, and what is right of it."""

    mark: str
    place: str
    language: str
    suffix: str
    content: bytes
    truth: list[tuple[str, tuple[str, ...], list[str]]]


def make_papers(seed: int = 85, count: int = 40) -> list[Paper]:
    """The papers of a seed, each with another mark."""
    chance = random.Random(seed)
    marks = [*(("option", one) for one in _AT_OPTIONS), *(("stem", one) for one in _AT_STEMS)]
    marks += [("below", one) for one in _BELOW]
    return [_make_paper(place, mark, chance) for place, mark in chance.sample(marks, count)]


def _make_paper(place: str, mark: str, chance: random.Random) -> Paper:
    language = "zh" if any("\u4e00" <= sign <= "\u9fff" for sign in mark) else chance.choice(list(_BANKS))
    suffix = chance.choice(_FORMATS if place != "below" else _FORMATS[:4])
    label, number = chance.choice(_LABELS), chance.choice(_NUMBERS)
    right, _, wrong = mark.partition("|")
    truth, blocks = [], []
    for line in _BANKS[language].split("\n"):
        stem, *options = line.split("|")
        plain = stem
        key = options[0]
        chance.shuffle(options)
        at = options.index(key)
        truth.append((plain, tuple(options), ["ABCD"[at]]))
        marked, below = list(options), ""
        if place == "option":
            marked = [
                (right if one == key else wrong or "{}")
                .replace("{}", one)
                .replace("{{", "{")
                .replace("}}", "}")
                for one in options
            ]
        elif place == "stem":
            stem = _fill(mark.replace("{{", "{").replace("}}", "}"), stem, at, key)
        else:
            below = _fill(mark, "", at, key)
        blocks.append((stem, marked, below))
    return Paper(mark, place, language, suffix, _WRITERS[suffix](blocks, label, number), truth)


def _fill(mark: str, stem: str, at: int, key: str) -> str:
    said = {"K": "ABCD"[at], "k": "abcd"[at], "N": str(at + 1), "T": key}
    filled = re.sub(r"(?<![A-Za-zÀ-ÿ])[KkNT](?![A-Za-zÀ-ÿ])", lambda sign: said[sign[0]], mark)
    return filled.replace("{s}", stem)


Block = tuple[str, Sequence[str], str]


def _list_lines(blocks: Sequence[Block], label: str, number: str) -> list[str]:
    lines: list[str] = []
    for count, (stem, options, below) in enumerate(blocks, start=1):
        lines.append(number.format(count) + stem)
        lines += [label.format(sign) + text for sign, text in zip("ABCD", options, strict=True)]
        lines += [*([below] if below else ()), ""]
    return lines


def _write_text(blocks: Sequence[Block], label: str, number: str) -> bytes:
    return "\n".join(_list_lines(blocks, label, number)).encode()


def _write_page(blocks: Sequence[Block], label: str, number: str) -> bytes:
    lines = "".join(f"<p>{html.escape(line)}</p>\n" for line in _list_lines(blocks, label, number) if line)
    return f"<!DOCTYPE html><html><body>{lines}</body></html>".encode()


def _write_word(blocks: Sequence[Block], label: str, number: str) -> bytes:
    return make_docx([html.unescape(line) for line in _list_lines(blocks, label, number) if line])


def _write_sheet(blocks: Sequence[Block], label: str, number: str) -> bytes:
    rows = [["Question", "A", "B", "C", "D"], *([stem, *options] for stem, options, _ in blocks)]
    return make_xlsx({"paper": rows})


def _write_records(blocks: Sequence[Block], label: str, number: str) -> bytes:
    return json.dumps([{"question": stem, "options": list(options)} for stem, options, _ in blocks]).encode()


_WRITERS: dict[str, Callable[[Sequence[Block], str, str], bytes]] = {
    "txt": _write_text,
    "md": _write_text,
    "html": _write_page,
    "docx": _write_word,
    "xlsx": _write_sheet,
    "json": _write_records,
}


def main() -> None:
    """Read the papers of one half and print what stays of their keys."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", type=int, choices=(1, 2), default=1)
    parser.add_argument("--seed", type=int, default=85)
    parser.add_argument("--show", action="store_true", help="name each paper")
    given = parser.parse_args()
    papers = make_papers(given.seed)
    papers = papers[: len(papers) // 2] if given.half == 1 else papers[len(papers) // 2 :]
    found = {
        "papers": len(papers),
        "spoiled": 0,
        "held": 0,
        "right": 0,
        "questions": 0,
        "clean": 0,
        "answered": 0,
    }
    with tempfile.TemporaryDirectory() as folder:
        for place, paper in enumerate(papers):
            path = Path(folder) / f"paper_{place}.{paper.suffix}"
            path.write_bytes(paper.content)
            read = read_landed(path)
            told = {
                (question["stem"], tuple(option["text"] for option in question["options"])): question[
                    "answer"
                ]
                for question in read["questions"]
            }
            clean = sum(1 for stem, options, _ in paper.truth if (stem, options) in told)
            answered = sum(1 for stem, options, key in paper.truth if told.get((stem, options)) == key)
            is_held = read["document"]["status"] in ("held", "no_questions")
            found["held"] += is_held
            found["spoiled"] += not is_held and clean < len(paper.truth)
            found["right"] += answered == len(paper.truth)
            found["questions"] += len(paper.truth)
            found["clean"] += clean
            found["answered"] += answered
            if given.show:
                print(
                    f"{paper.place:7}{paper.mark:28}{paper.language:4}{paper.suffix:5}",
                    clean,
                    answered,
                    read["document"]["status"],
                )
    print("; ".join(f"{name} {count}" for name, count in found.items()))


if __name__ == "__main__":
    main()
