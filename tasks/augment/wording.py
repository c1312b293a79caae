"""Templates that turn an option into a true/false question (LLMEval-Fair, figure 7); the wording is ours.

Changing a sentence changes what is asked: it needs a new `PROMPT_VERSION`.
"""

from __future__ import annotations

from tasks.questions.blanks import count_blanks

PROMPT_VERSION = "option-truth/1"

_WORDING = {
    ("en", "blank"): "Would the blank above be filled in correctly with “{option}”?",
    ("en", "question"): "Would “{option}” be a correct answer to the question above?",
    ("en", "several"): "More than one choice may be right here. Is “{option}” one of the right ones?",
    ("zh", "blank"): "上文空缺处若填“{option}”，是否正确？",
    ("zh", "question"): "以“{option}”回答上面的问题，是否正确？",
    ("zh", "several"): "上面的问题可能有不止一个正确选项，“{option}”是否是其中之一？",
}


def render_option_question(stem: str, option_text: str, language: str, key_count: int) -> str:
    """The stem with its blank, then whether `option_text` belongs there.

    With several keys the question says that there may be several: “correct” alone would suggest a complete answer.
    """
    one_key = "blank" if count_blanks(stem) else "question"
    shape = "several" if key_count > 1 else one_key
    sentence = _WORDING[language if language == "zh" else "en", shape]
    return f"{stem.rstrip()}\n{sentence.format(option=option_text.strip())}"
