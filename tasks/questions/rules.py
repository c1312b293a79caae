"""Format rules of a question, functions named for what must hold (LLMEval-Fair, A.2.2).

A rule looks at the content of one question and answers whether it holds; it never changes anything.
`ANSWERABLE` are the rules without which a question cannot be put or judged: an annotator cannot accept past them.
The others are strong hints of a damaged question: they keep it out of augmentation and of the bank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schemas import patterns as re
from tasks.questions.blanks import count_blanks
from tasks.questions.pictures import PICTURE, list_marked
from tasks.questions.question import QuestionContent

Rule = Callable[[QuestionContent], bool]

# Marks between several answers that a paper printed as one.
ANSWER_SEPARATORS = re.compile(r"[;；、,，|/]|\s{2,}|\n")
# Shorter answers ("1", "水", "an") occur in a stem by chance.
SHORTEST_LEAK = {"zh": 3, "en": 5}
_LETTERS = [chr(code) for code in range(ord("A"), ord("Z") + 1)]
ANSWERABLE = (
    "stem_is_not_empty",
    "answer_is_not_empty",
    "choice_has_two_options",
    "labels_are_unique_and_sequential",
    "option_texts_are_not_empty",
    "option_texts_are_distinct",
    "key_is_among_labels",
    "truth_is_true_or_false",
    "pictures_are_there",
)


def find_broken_rules(content: QuestionContent) -> list[str]:
    """Names of all rules that `content` breaks, in the order of `RULES`."""
    return [name for name, rule in RULES.items() if not rule(content)]


def find_unanswerable(content: QuestionContent) -> list[str]:
    """Names of the broken rules without which the question cannot be put or judged."""
    return [name for name in ANSWERABLE if not RULES[name](content)]


def is_sound_choice(stem: str, labels: Sequence[str], texts: Sequence[str], answer: Sequence[str]) -> bool:
    """Whether a multiple-choice question keeps all rules, found quickly.

    False sends it to `find_broken_rules` for their names, and so does a picture. For whole banks: the same as
    `find_broken_rules` finding nothing (a test compares them on a real bank).
    """
    count = len(labels)
    return (
        count >= 2
        and list(labels) == _LETTERS[:count]
        and bool(answer)
        and len(set(answer)) == len(answer)
        and all(key in labels for key in answer)
        and bool(stem.strip())
        and len({" ".join(text.split()) for text in texts} - {""}) == count
        and not any("[picture:" in text for text in (stem, *texts))
    )


def stem_is_not_empty(content: QuestionContent) -> bool:
    """There is something to ask."""
    return bool(content.stem.strip())


def answer_is_not_empty(content: QuestionContent) -> bool:
    """There is at least one answer, and none is blank."""
    return bool(content.answer) and all(text.strip() for text in content.answer)


def choice_has_two_options(content: QuestionContent) -> bool:
    """A multiple-choice question offers at least two options."""
    return not _is_choice(content) or len(content.options) >= 2


def labels_are_unique_and_sequential(content: QuestionContent) -> bool:
    """The labels are A, B, C … without a gap or a repetition."""
    labels = [option.label for option in content.options]
    return labels == [chr(ord("A") + place) for place in range(len(labels))]


def option_texts_are_not_empty(content: QuestionContent) -> bool:
    """Every option says something (a picture that was lost leaves an empty one)."""
    return all(option.text.strip() for option in content.options)


def option_texts_are_distinct(content: QuestionContent) -> bool:
    """No two options say the same: one of them would be right and wrong at once."""
    texts = [" ".join(option.text.split()) for option in content.options]
    return len(set(texts)) == len(texts)


def only_choices_have_options(content: QuestionContent) -> bool:
    """A question of another type offers no options; if it does, its type is wrong."""
    return _is_choice(content) or not content.options


def key_is_among_labels(content: QuestionContent) -> bool:
    """Every key of a multiple-choice question is the label of one of its options, given once."""
    if not _is_choice(content):
        return True
    labels = {option.label for option in content.options}
    keys = content.answer
    return len(set(keys)) == len(keys) and all(key in labels for key in keys)


def truth_is_true_or_false(content: QuestionContent) -> bool:
    """The answer of a true/false question is exactly `true` or `false`."""
    return content.question_type != "true_false" or content.answer in ((), ("true",), ("false",))


def blanks_match_answers(content: QuestionContent) -> bool:
    """A fill-in question has as many blanks as answers, those printed as one counted apart."""
    if content.question_type != "fill_in_the_blank":
        return True
    answer = content.answer
    blank_count = count_blanks(content.stem)
    if not answer or blank_count == 0:
        return not answer
    if len(answer) == blank_count:
        return True
    return len(answer) == 1 and len(split_answers(answer[0])) == blank_count


def stem_does_not_give_the_answer(content: QuestionContent) -> bool:
    """The answer of a fill-in or short question does not stand in its own stem."""
    if content.question_type not in ("fill_in_the_blank", "short_answer"):
        return True
    stem = _squeeze(content.stem)
    shortest = SHORTEST_LEAK.get(content.language, 3)
    answers = content.answer
    # One text for several blanks is several answers; one text for one blank may contain a comma.
    is_joined = len(answers) == 1 and count_blanks(content.stem) > 1
    pieces = split_answers(answers[0]) if is_joined else answers
    return not any(len(squeezed) >= shortest and squeezed in stem for squeezed in map(_squeeze, pieces))


def pictures_are_there(content: QuestionContent) -> bool:
    """Every picture that a text names is known, and none is lost."""
    row = content.as_row()
    named = {int(mark[1]) for _, text in list_marked(row) for mark in PICTURE.finditer(text)}
    return named == {picture.number for picture in content.pictures}


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
        pictures_are_there,
    )
}


def split_answers(text: str) -> list[str]:
    """The answers that one printed line holds, split at the marks papers use."""
    return [piece.strip() for piece in ANSWER_SEPARATORS.split(text) if piece.strip()]


def _is_choice(content: QuestionContent) -> bool:
    return content.question_type == "multiple_choice"


def _squeeze(text: str) -> str:
    return "".join(text.split()).casefold()
