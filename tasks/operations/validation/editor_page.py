"""The editor's page: each broken rule, and where it is broken.

Each rule comes with what it says, what to do and an example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.operations.validation.rule_notes import read_rule_notes

if TYPE_CHECKING:
    from tasks.operations.validation.questions import QuestionCheck

# (Chinese, English) for everything that the page says by itself.
LABELS = {
    "title": ("题目检查", "Questions to look at"),
    "originals": ("已检查原题", "Originals checked"),
    "variants": ("已检查变体", "Variants checked"),
    "places": ("处", "places"),
    "nothing": ("所有规则均满足。", "Every rule is kept."),
    "refuses": ("不入库", "kept out of the bank"),
    "doubt": ("存疑", "a doubt"),
    "do": ("处理", "What to do"),
    "more": ("未列出", "not shown"),
    "kind": ("类别", "Kind"),
    "source": ("出处", "Where"),
    "discipline": ("学科", "Discipline"),
    "text": ("题干", "Text"),
}
KINDS = {
    "original": ("原题", "original"),
    "variant": ("变体", "variant"),
    "refused": ("已隔离", "refused"),
}


def render_editor_page(check: QuestionCheck) -> str:
    """The page as HTML.

    It is self-contained and without scripts, and everything from a paper or a model is escaped.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tasks.operations.validation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    notes = read_rule_notes()
    rules = [
        {
            "name": name,
            "count": count,
            "note": notes.get(name),
            "places": check.places[name],
            "more": count - len(check.places[name]),
        }
        for name, count in sorted(check.counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return environment.get_template("questions.html.j2").render(
        labels=LABELS, kinds=KINDS, rules=rules, check=check
    )
