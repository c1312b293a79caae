"""Saved pages of Moodle: what the page's structure says, whatever its language."""

from __future__ import annotations

from typing import Any

from schemas import patterns as re

# what stands around a question: its state and marks, how many to tick, what somebody scored and was told
_AROUND = (
    "state",
    "grade",
    "questionflag",
    "editquestion",
    "accesshide",
    "prompt",
    "specificfeedback",
    "numpartscorrect",
    "history",
)
# `The correct answer is: ls`, `Die richtige Antwort ist 'Wahr'.`
_RIGHT = re.compile(
    r"[^:：'\"“‘«„]{2,60}(?:[:：]\s*(?P<said>.+)|['\"“‘«„](?P<quoted>[^'\"”’»“]+)['\"”’»“]\s*\.?)"
)
_NUMBER = re.compile(r"\d{1,3}")


def settle_reviews(root: Any) -> None:
    """Leave of a question its number, text and options, and name its answer `Answer:`.

    Where the page prints the right answers the boxes are ticked by somebody who may be wrong.
    """
    for question in _find(root, "que"):
        is_reviewed = bool(_find(question, "info")) and bool(_find(question, "qtext"))
        if is_reviewed:
            _name_number(question)
            if _name_answer(question):
                for box in question.iter("input"):
                    box.attrib.pop("checked", None)
        if "essay" in (question.get("class") or "").split():
            for written in _find(question, "answer"):
                written.drop_tree()  # what somebody wrote
        for name in _AROUND if is_reviewed else ():
            for element in _find(question, name):
                element.drop_tree()
    for picture in [one for told in _find(root, "specificfeedback") for one in told.iter("img")]:
        picture.drop_tree()  # told somebody why not
    for feedback in _find(root, "generalfeedback"):
        first = feedback.xpath("./descendant-or-self::*[not(*) or text()][1]")[0]
        first.text = f"Feedback: {first.text or ''}"


def _name_number(question: Any) -> None:
    """Write the number of a question as `Question 3`, in whatever language the page is."""
    for number in _find(question, "no")[:1]:
        found = _NUMBER.search(str(number.text_content()))
        if found is not None:
            for child in list(number):
                number.remove(child)
            number.text = f"Question {found[0]}"


def _name_answer(question: Any) -> bool:
    """Write the right answer that a page prints behind `Answer:`; whether it prints one."""
    is_told = False
    for element in _find(question, "rightanswer"):
        told = _RIGHT.fullmatch(" ".join(str(element.text_content()).split()))
        if told is not None and element.find(".//img") is None:
            for child in list(element):
                element.remove(child)
            element.text = f"Answer: {told['said'] or told['quoted']}"
            is_told = True
    return is_told


def _find(root: Any, name: str) -> list[Any]:
    """The elements within one that have a class."""
    return list(root.xpath(f".//*[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"))
