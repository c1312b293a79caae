"""Format rules of a question: one function per rule, named for what must hold (LLMEval-Fair, A.2.2).

A rule looks at the content of one question and answers whether it holds; it never changes anything.
`ANSWERABLE` are the rules without which a question cannot be put or judged: an annotator cannot accept past them.
The others are strong hints of a damaged question: they keep it out of augmentation and of the bank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Content = Mapping[str, Any]
Rule = Callable[[Content], bool]

# A blank as papers print it: a run of underscores, or brackets with nothing but space in them.
BLANK = re.compile(r"[_＿]{2,}|[（(][\s_＿]*[）)]|【\s*】")
# Marks between several answers that a paper printed as one.
ANSWER_SEPARATORS = re.compile(r"[;；、,，|/]|\s{2,}|\n")
# Shorter answers ("1", "水", "an") occur in a stem by chance.
SHORTEST_LEAK = {"zh": 3, "en": 5}
LABEL = re.compile(r"[A-Z]")


def find_broken_rules(content: Content) -> list[str]:
    """Names of all rules that `content` breaks, in the order of `RULES`; empty when it is well formed."""
    return [name for name, rule in RULES.items() if not rule(content)]


def find_unanswerable(content: Content) -> list[str]:
    """Names of the broken rules without which the question cannot be put or judged."""
    return [name for name in ANSWERABLE if not RULES[name](content)]


def stem_is_not_empty(content: Content) -> bool:
    """There is something to ask."""
    return bool((content.get("stem") or "").strip())


def answer_is_not_empty(content: Content) -> bool:
    """There is at least one answer, and none is blank."""
    answer = content.get("answer") or []
    return bool(answer) and all((text or "").strip() for text in answer)


def choice_has_two_options(content: Content) -> bool:
    """A multiple-choice question offers at least two options."""
    return not _is_choice(content) or len(_options(content)) >= 2


def labels_are_unique_and_sequential(content: Content) -> bool:
    """The labels are A, B, C … without a gap or a repetition."""
    labels = [option["label"] for option in _options(content)]
    return labels == [chr(ord("A") + place) for place in range(len(labels))]


def option_texts_are_not_empty(content: Content) -> bool:
    """Every option says something (a picture that was lost leaves an empty one)."""
    return all((option["text"] or "").strip() for option in _options(content))


def option_texts_are_distinct(content: Content) -> bool:
    """No two options say the same: one of them would be right and wrong at once."""
    texts = [" ".join((option["text"] or "").split()) for option in _options(content)]
    return len(set(texts)) == len(texts)


def only_choices_have_options(content: Content) -> bool:
    """A question of another type offers no options; if it does, its type is wrong."""
    return _is_choice(content) or not _options(content)


def key_is_among_labels(content: Content) -> bool:
    """Every key of a multiple-choice question is the label of one of its options, given once."""
    if not _is_choice(content):
        return True
    labels = {option["label"] for option in _options(content)}
    keys = content.get("answer") or []
    return len(set(keys)) == len(keys) and all(key in labels for key in keys)


def truth_is_true_or_false(content: Content) -> bool:
    """The answer of a true/false question is exactly `true` or `false`."""
    if content.get("question_type") != "true_false":
        return True
    answer = list(content.get("answer") or [])
    return not answer or answer in (["true"], ["false"])


def blanks_match_answers(content: Content) -> bool:
    """A fill-in question has as many blanks as answers; several answers printed as one are counted apart."""
    if content.get("question_type") != "fill_in_the_blank":
        return True
    answer = list(content.get("answer") or [])
    blank_count = count_blanks(content.get("stem") or "")
    if not answer or blank_count == 0:
        return not answer
    if len(answer) == blank_count:
        return True
    return len(answer) == 1 and len(split_answers(answer[0])) == blank_count


def stem_does_not_give_the_answer(content: Content) -> bool:
    """The answer of a fill-in or short question does not stand in its own stem."""
    if content.get("question_type") not in ("fill_in_the_blank", "short_answer"):
        return True
    stem = _squeeze(content.get("stem") or "")
    shortest = SHORTEST_LEAK.get(content.get("language") or "zh", 3)
    answers = list(content.get("answer") or [])
    # One text for several blanks is several answers; one text for one blank may contain a comma.
    is_joined = len(answers) == 1 and count_blanks(content.get("stem") or "") > 1
    pieces = split_answers(answers[0]) if is_joined else answers
    return not any(len(squeezed) >= shortest and squeezed in stem for squeezed in map(_squeeze, pieces))


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        stem_is_not_empty,
        answer_is_not_empty,
        choice_has_two_options,
        labels_are_unique_and_sequential,
        option_texts_are_not_empty,
        option_texts_are_distinct,
        only_choices_have_options,
        key_is_among_labels,
        truth_is_true_or_false,
        blanks_match_answers,
        stem_does_not_give_the_answer,
    )
}

ANSWERABLE = (
    "stem_is_not_empty",
    "answer_is_not_empty",
    "choice_has_two_options",
    "labels_are_unique_and_sequential",
    "option_texts_are_not_empty",
    "option_texts_are_distinct",
    "key_is_among_labels",
    "truth_is_true_or_false",
)


def count_blanks(stem: str) -> int:
    """How many blanks the stem prints."""
    return len(BLANK.findall(stem))


def split_answers(text: str) -> list[str]:
    """The answers that one printed line holds, split at the marks papers use."""
    return [piece.strip() for piece in ANSWER_SEPARATORS.split(text) if piece.strip()]


def _is_choice(content: Content) -> bool:
    return content.get("question_type") == "multiple_choice"


def _options(content: Content) -> list[Mapping[str, str]]:
    return list(content.get("options") or [])


def _squeeze(text: str) -> str:
    return "".join(text.split()).casefold()
