"""Logs of chats: what whoever asks has said is a paper, all else is around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from schemas import patterns as re
from tasks.ingest.readers.extraction import Line

_TIME = r"(?:(?:\d{2,4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?|昨天|今天|星期.|上午|下午|晚上|AM|PM)\s*,?\s*){0,2}\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp][Mm])?"
# `Anna  19:30`, `2024-11-03 19:30:12 Anna`
_NAME_FIRST = re.compile(rf"\s*(?P<name>\S[^\n]{{0,23}}?)\s+{_TIME}\s*")
_TIME_FIRST = re.compile(rf"\s*{_TIME}\s+(?P<name>\S[^\n:：]{{0,23}}?)\s*[:：]?\s*")
_LONGEST_HEAD = 80
_DATE = re.compile(r"\W*(?:\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?|星期.|昨天|今天)\W*")
# what programs say in a log
_EVENT = re.compile(
    r"\s*(?:[\[【<](?:图片|表情|语音|视频|文件|动画表情|链接|image|photo|sticker|voice|media omitted)[^\]】>]*[\]】>]|.{0,40}(?:撤回了一条消息|加入了群聊|拍了拍).*)\s*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"\s*(?:第\s*\d{1,3}\s*[题題]|[Qq]?\d{1,3}\s*[.．、)）]|(?:Question|Frage|Pregunta)\s+\d)"
)
_LEAST_HEADS, _LEAST_SHARE = 6, 0.6
_LEAST_TURNS = 2


def mark_chat(lines: Sequence[Line]) -> list[Line]:
    """The lines of a chat in which one person asks; names and what others say are furniture.

    Other lines are returned as they are.
    """
    short = [line.text if len(line.text) <= _LONGEST_HEAD else "" for line in lines]
    for heads in (
        [_NAME_FIRST.fullmatch(text) for text in short],
        [_TIME_FIRST.fullmatch(text) for text in short],
    ):
        names = [match["name"] if match is not None else None for match in heads]
        counts = Counter(name for name in names if name is not None)
        if sum(counts.values()) < _LEAST_HEADS or len(counts) > sum(counts.values()) / 2:
            continue
        turns = _part_turns(lines, names)
        asked: Counter[str | None] = Counter()
        asking: Counter[str | None] = Counter()
        for name, said in turns:
            numbered = [_NUMBERED.match(line.text) is not None for line in said]
            asked[name] += sum(numbered)
            asking[name] += numbered[:1] == [True]
        asker, count = asked.most_common(1)[0]
        spoken = sum(bool(said) for name, said in turns if name is not None)
        if (
            asker is None
            or count < 2
            or count < _LEAST_SHARE * asked.total()
            # times in a table, or in a text above its questions, are followed by no turns that begin with a number
            or asking[asker] < _LEAST_TURNS
            or spoken < _LEAST_SHARE * counts.total()
        ):
            continue
        return _mark(lines, names, asker)
    return [*lines]


def _part_turns(lines: Sequence[Line], names: Sequence[str | None]) -> list[tuple[str | None, list[Line]]]:
    """The name at the head of each turn, and the lines below it that say something."""
    turns: list[tuple[str | None, list[Line]]] = [(None, [])]
    for line, name in zip(lines, names, strict=True):
        if name is not None:
            turns.append((name, []))
        elif line.text.strip():
            turns[-1][1].append(line)
    return turns


def _mark(lines: Sequence[Line], names: Sequence[str | None], asker: str) -> list[Line]:
    marked: list[Line] = []
    speaker: str | None = None
    for line, name in zip(lines, names, strict=True):
        speaker = speaker if name is None else name
        is_said = (
            name is None
            and speaker in (asker, None)
            and _DATE.fullmatch(line.text) is None
            and _EVENT.fullmatch(line.text) is None
        )
        marked.append(line if is_said else replace(line, kind="furniture"))
    return marked
