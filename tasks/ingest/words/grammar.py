"""The words that papers print around their questions (grammar.yaml), as patterns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from schemas import patterns as re
from tasks.ingest.words.once import once_a_paper
from tasks.ingest.words.points import BRACKETED_SUM
from tasks.ingest.words.signs import MARK
from tasks.ingest.words.word_lists import WORDS, is_parted, spell


def _any(words: Sequence[str]) -> str:
    """A pattern of any of the words, the longest first; Latin ones as whole words."""
    ordered = sorted(words, key=lambda word: -len(word))
    return "|".join(
        rf"{re.escape(word)}(?![A-Za-z])" if word.isascii() else r"\s*".join(map(re.escape, word))
        for word in ordered
    )


@lru_cache(maxsize=1)
def number_word() -> str:
    """A pattern for what may stand before a question's number: `Question`, `第`, `No.`."""
    words = dict.fromkeys(map(str.casefold, (*WORDS["number_words"], *WORDS["label_words"])))
    latin, others = ([word for word in words if word.islower() is is_latin] for is_latin in (True, False))
    return rf"(?:(?i:{spell(latin)})\s*+[.．:：#№]?(?:\s*(?i:no|number|nr|n\s?[°º])\s*+[.．:：#]?)?|{spell(['第', *others])})"


@lru_cache(maxsize=1)
def not_counting() -> frozenset[str]:
    """The words whose numbers count no questions: `Table 3`, `图2`."""
    return frozenset(WORDS["not_counting"])


@lru_cache(maxsize=1)
def key_title() -> str:
    """A pattern of the titles of answer parts in languages other than Chinese and English."""
    return "|".join(sorted(map(re.escape, WORDS["key_titles"]), key=len, reverse=True))


@lru_cache(maxsize=1)
def option_alphabets() -> tuple[str, ...]:
    """The letters that label options in other scripts, in their order."""
    return tuple(WORDS["option_alphabets"])


@lru_cache(maxsize=1)
def truth_words() -> tuple[frozenset[str], frozenset[str]]:
    """The words and signs for true statements, and those for false ones, folded."""
    true, false = (
        frozenset(word.casefold() for word in WORDS[name]) for name in ("true_words", "false_words")
    )
    return true, false


@lru_cache(maxsize=1)
def truth_word() -> str:
    """A pattern of the words and signs that judge a statement."""
    words = sorted((word for some in truth_words() for word in some), key=lambda word: -len(word))
    signs = "|".join(re.escape(word) for word in words if not word.islower())
    return rf"(?:{signs}|(?i:{'|'.join(word for word in words if word.islower())})(?![^\W\d_\u4e00-\u9fff]))"


@lru_cache(maxsize=1)
def third_word() -> str:
    """A pattern of the words for statements of which a text says nothing: `NOT GIVEN`."""
    words = sorted(WORDS["third_words"], key=lambda word: -len(word))
    return rf"(?i:{'|'.join(map(re.escape, words))})"


# `塩の産地はどこか。`, `…を書け。（3点）`: a sentence that asks or sets a task by its last syllables
_JAPANESE = r"(?<=[\u3040-\u30ff\u4e00-\u9fff])(?:か|[せべえけげめれ]よ|なさい|書け|選べ|示せ|記せ)[。．](?=\s*(?:$|[（(]))"


@lru_cache(maxsize=1)
def asking() -> re.Pattern[str]:
    """What asks: a question mark, a blank, marks, a verb that opens a sentence, a word."""
    verbs = [*WORDS["task_verbs"], *WORDS["asking_verbs"]]
    latin = spell([word for word in verbs if is_parted(word)])
    chinese = spell([word for word in verbs if not is_parted(word)])
    return re.compile(
        rf"{MARK}|_{{3,}}|[（(]\s*[)）]|{BRACKETED_SUM}\s*$|"
        rf"{spell(WORDS['asking_words'])}|{_JAPANESE}|"
        rf"(?:^|[。；;，,：:）)\n])\s*+(?:\d{{1,2}}\s*[.、)）]\s*+|[（(]\w{{1,3}}[)）]\s*+)?{chinese}|"
        rf"(?:^|[.;:,)?!\n])\s*+(?:\(?\w{{1,3}}[.)]\s*+|(?-i:[a-h]\s+(?=[A-Z])))?(?:(?:also|then|now|please|briefly|and)\s+)?{latin}\b",
        re.IGNORECASE | re.MULTILINE,
    )


@lru_cache(maxsize=1)
def task() -> re.Pattern[str]:
    """What sets a task: a verb of tasks at its beginning, or a question mark at its end."""
    verbs = WORDS["task_verbs"]
    # `Erklären Sie`: only the first letter must be large
    latin = "|".join(f"{word[0].upper()}(?i:{word[1:]})" for word in verbs if is_parted(word))
    chinese = "|".join(word for word in verbs if not is_parted(word))
    return re.compile(
        rf"\A(?:\s*+(?:{chinese}|(?:(?:Also|Briefly|Please|Then|Now)\s+(?i:{latin})|{latin})\b)|[^?？]*+[?？]\s*+$)"
    )


# Behind a colon a sign that touches more than a key belongs to the answer: `Answer: -10`, `答案：≥5`, `Ans: #include`.
_OWN_SIGN = (
    r"(?:(?<=[:：=】\]为是])|(?<=[.．]\s)|(?<=\sis\s))\s*+"
    r"(?![-–—~=>→#*·•]\s?[（(\[]?[A-Ja-j](?:[)）\]】.。,，、:：*\s]|$)|[\[【<{]\s?[A-Ja-j]\s?[\]】>}]|[-–—~](?:[A-Za-zÀ-ÖØ-öø-ÿ]{2}|[\u0400-\u04ff\u3040-\uffdc])|"
    r"[:：】\]•·●▪◦►▶]|\*\*)[^\w\s](?=[\w$|(（√\\'\"“‘\[{])"
)


@lru_cache(maxsize=1)
def conduct() -> re.Pattern[str]:
    """What rules for candidates speak of: `作答`, `calculator`, `pass mark`."""
    return re.compile(_any(WORDS["conduct_words"]), re.IGNORECASE)


@lru_cache(maxsize=1)
def signature() -> re.Pattern[str]:
    """What names a signature, right before the place for it."""
    return re.compile(rf"(?:{_any(WORDS['signature_words'])})\s*[:：]", re.IGNORECASE)


@lru_cache(maxsize=1)
def answer_mark() -> re.Pattern[str]:
    """What opens an answer, in one language or two; group 1 is a closing separator or empty."""
    words = WORDS
    latin, other = (
        f"(?:{_any([word for word in words['answer_words'] if word.isascii() is is_latin])})"
        for is_latin in (True, False)
    )
    named = rf"(?:{latin}(?:\s*+[/／]?\s*+{other})?+|{other}(?:\s*+[/／]?\s*+{latin})?+)"
    return re.compile(
        rf"\s*+[^\w\s]{{0,2}}\s*+(?:(?:{_any(words['answer_leads'])})\s*+){{0,3}}{named}\s*+[.．]?"
        rf"\s*+(?:(?:{_any(words['answer_copulas'])})\s*+)?((?:(?!{_OWN_SIGN})\s*+[^\w\s√×✓✗✔✘（(\"“‘'《<$\\+]){{0,3}}(?:(?!{_OWN_SIGN})\s*>)?)\s*",
        re.IGNORECASE,
    )


def opens_answer(text: str) -> bool:
    """Whether a line opens an answer with a word and a separator, `答案是：`, `Answer -`."""
    mark = answer_mark().match(text)
    return mark is not None and bool(mark[1].strip())


@lru_cache(maxsize=1)
def blank_place() -> re.Pattern[str]:
    """A line that names the place of a blank, `第 1 空`, `Blank 2: salt`, and what fills it."""
    found = "|".join(
        rf"{re.escape(before.strip())}\s*\d{{1,2}}\s*{re.escape(after)}"
        for before, _, after in (name.partition("#") for name in WORDS["blank_places"])
    )
    return re.compile(rf"\s*(?:{found})\s*(?:[:：]\s*(?P<said>\S.*)?)?", re.IGNORECASE)


def may_open_blank(character: str) -> bool:
    """Whether a line that names the place of a blank may begin so."""
    return character.casefold() in _blank_beginnings()


@lru_cache(maxsize=1)
def _blank_beginnings() -> frozenset[str]:
    return frozenset(name[0] for name in WORDS["blank_places"])


@lru_cache(maxsize=1)
def numbered_answer() -> re.Pattern[str]:
    """What opens a named question's answer: `Answer to Question 3:`; group 1 is its number."""
    words = WORDS
    links = "|".join(map(re.escape, sorted(words["answer_links"], key=len, reverse=True)))
    return re.compile(
        rf"\s*+(?:(?:{_any(words['answer_leads'])})\s*+){{0,2}}(?:{_any(words['answer_words'])})\s*+(?:(?:{links})\s++)?"
        rf"(?:(?:the)\s++)?{number_word()}\s*(\d{{1,3}})(?:\s*[.．:：)）\-–—]+|(?=\s*[（(]))\s*",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def answer_name() -> re.Pattern[str]:
    """The words that name an answer; `答：` opens a worked one, whose own words follow."""
    words = [word for word in WORDS["answer_words"] if word not in ("答", "解答")]
    return re.compile("|".join(rf"\b{word}\b" if word.isascii() else word for word in words), re.IGNORECASE)


@lru_cache(maxsize=1)
def _status() -> tuple[frozenset[str], frozenset[str]]:
    """The status lines, folded, and the characters that they begin with."""
    lines = frozenset(_fold_status(line) for line in WORDS["status_lines"]) | _closing()
    return lines, frozenset(line[:1] for line in lines)


@lru_cache(maxsize=1)
def _closing() -> frozenset[str]:
    return frozenset(_fold_status(line) for line in WORDS["closing_lines"])


@lru_cache(maxsize=1 << 12)
def may_open_number_word(character: str) -> bool:
    """Whether a word before a question's number may begin with this character."""
    return character == "第" or _is_start(character, "number_words", "label_words")


@lru_cache(maxsize=1 << 12)
def _may_open_asking(character: str) -> bool:
    """Whether what asks may begin with this character, no label in letters before it."""
    is_plain = character.isalpha() and character not in "Bb"  # `briefly` stands before verbs, too
    return not is_plain or _is_start(character, "asking_words", "asking_verbs", "task_verbs")


@once_a_paper
def begins_asking(text: str) -> bool:
    """Whether a text begins with what `asking` matches; of most the first character tells."""
    may_begin = _may_open_asking(text[:1]) or "." in text[1:4] or ")" in text[1:4] or text[1:2].isspace()
    return may_begin and asking().match(text) is not None


@lru_cache(maxsize=1)
def _topic() -> re.Pattern[str]:
    words = sorted(WORDS["topic_words"], key=len, reverse=True)
    return re.compile("|".join(rf"\b{word}\b" if is_parted(word) else word for word in words), re.IGNORECASE)


@once_a_paper
def asks_by_topic(text: str) -> bool:
    """Whether a title names what is asked of it: `TCP vs UDP`, `指针和引用的区别`."""
    return _topic().search(text) is not None


@lru_cache(maxsize=1 << 12)
def may_open_answer(character: str) -> bool:
    """Whether what `answer_mark` matches may begin with this character."""
    is_sign = not (character.isalnum() or character == "_")
    return is_sign or _is_start(character, "answer_leads", "answer_words")


def _is_start(character: str, *names: str) -> bool:
    return _starts(names).match(character) is not None


@lru_cache(maxsize=8)
def _starts(names: tuple[str, ...]) -> re.Pattern[str]:
    """The first characters of these words, in either case."""
    firsts = {word[0] for name in names for word in WORDS[name]}
    return re.compile(f"[{re.escape(''.join(sorted(firsts)))}]", re.IGNORECASE)


_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_SIGNS = re.compile(r"[^\w#/]+")


def _fold_status(text: str) -> str:
    return _SIGNS.sub(" ", _NUMBER.sub("#", text.casefold())).strip()


@lru_cache(maxsize=1 << 12)
def may_open_status(character: str) -> bool:
    """Whether a status line may begin with this character: most lines begin with another."""
    if character in "(（[":
        return False
    _, starts = _status()
    if character.isdecimal():
        return "#" in starts
    # neither case of a letter is written with several characters below U+A000 but ß
    return not character.isalpha() or any(
        one in starts or one >= "\ua000" for one in (character, character.lower())
    )


@lru_cache(maxsize=1 << 12)
def _may_begin(two: str) -> bool:
    """Whether a status line may begin with these two characters."""
    first = two[:1].casefold()
    if len(two) < 2 or not first.isalpha() or len(first) > 1:
        return True
    folded = _fold_status(f"{two}x")
    return folded[:2] in _status_beginnings()


@lru_cache(maxsize=1)
def _status_beginnings() -> frozenset[str]:
    return frozenset(line[:2] for line in _status()[0])


def is_status_line(text: str) -> bool:
    """Whether a platform or form prints it: `Mark 1.00 out of 1.00`, `得分`."""
    first = text[:1]
    if (len(text) > 60 and first not in "-—=*_~") or len(text) > 200 or not may_open_status(first):
        return False
    if not _may_begin(text[:2]):
        return False  # `A. …` is no `answer saved`
    folded = _fold_status(text)
    return len(folded) <= 60 and (folded in _status()[0] or _closes_first(text))


def is_closing_line(text: str) -> bool:
    """Whether it closes a paper: `End of examination`, `（全卷完）`, `End of exam. Well done!`"""
    return len(text) <= 60 and (
        _fold_status(text.strip("（()） ")) in _closing() or _closes_first(text.strip("（()） "))
    )


# Where the first clause ends: at a stop, at a dash, or where another script begins.
_CLAUSE_END = re.compile(r"[.!。！–—]|\s-+\s|(?<=[a-z])\s+(?=[\u3400-\u9fff])")


def _closes_first(text: str) -> bool:
    """Whether the first of several clauses closes a paper, in words that hardly say else."""
    clause, *rest = _CLAUSE_END.split(text.strip(" -—–=*_~"), maxsplit=1)
    folded = _fold_status(clause)
    is_told = folded.count(" ") > 1 or not folded.isascii()  # `Good luck. That was all he said.`
    # `All the best! he said.` goes on
    is_told = is_told and not any(map(str.islower, "".join(rest).strip()[:1]))
    return bool(rest) and is_told and " " in folded and folded in _closing() and "?" not in text


_RULES_TITLE = re.compile(
    r"(?:本?课程|本次|期[末中]|考试|考生|考场|答题|作答|答卷|提交|截止|相关)+(?:的|和|与|及)?(?:相关|具体|基本)?(?:要求|须知|事项|说明|方式|纪律|规则|形式|内容|格式|时间|日期)"
)
_LISTED = re.compile(r"[、,，]\s*(?:以?及|和|and)?\s*|以及|及|\s+(?:and|&)\s+")


def is_instruction_title(text: str) -> bool:
    """Whether a heading says how to behave: `注意事项`, `Important Instructions`."""
    if len(text) > 60:
        return False
    folded = _fold_title(text)
    parts = [part for part in _LISTED.split(folded) if part]  # `提交内容、提交方式及截止时间`
    return bool(parts) and (_names_rules(folded) or all(map(_names_rules, parts)))


def is_script_title(text: str) -> bool:
    """Whether a line heads what is read aloud: `听力原文`, `Tapescript:`."""
    return len(text) <= 40 and _fold_title(text) in WORDS["script_titles"]


def is_section_title(text: str) -> bool:
    """Whether a line is the title of a section, and names no type: `能力提升`, `【Grammar】`."""
    return len(text) <= 30 and _fold_title(text) in WORDS["section_titles"]


def _names_rules(folded: str) -> bool:
    if len(folded) <= 12 and _RULES_TITLE.fullmatch(folded):
        return True
    return folded.removeprefix("本次") in WORDS["instruction_titles"]


def names_subject(text: str) -> bool:
    """Whether a heading that may say how to behave may as well be what is asked about: `Rules`."""
    return len(text) <= 60 and _fold_title(text) in WORDS["subject_titles"]


def _fold_title(text: str) -> str:
    return re.sub(r"[（(].*?[)）]", "", text).strip(" 　:：.。").casefold()
