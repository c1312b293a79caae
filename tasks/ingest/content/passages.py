"""A question's material, told apart from what is asked about it."""

from __future__ import annotations

import re

_INSTRUCTS = re.compile(
    r"(?i)^\s*(?:请?(?:认真|仔细)?(?:阅读|根据|结合)|read\b|study\b|based on).{0,60}(?:回答|完成|分析|作答|answer|questions?)"
)


_FIRST_PART = re.compile(
    r"^\s*(?:(?:问题?|请问|请回答|试问)\s*[:：]\s*)?(?:[（(]\s*(?:1|一|i|a)\s*[)）]|1\s*[.、．)）]|①|(?:问题|Question)\s*(?:1|一)?\s*[:：.])"
)


_ASKING_LEAD = re.compile(
    r"\s*(?:请(?:根据(?:以上|上述)(?:材料|资料|案例))?(?:回答|思考|分析)?(?:以下|下列|上述)?(?:问题)?|(?:思考)?问题?|试问|回答(?:下列|以下)?问题)\s*[:：]?\s*"
)


_REQUEST = re.compile(
    r"(?i)^\s*(?:请|试|结合|根据|运用|谈谈|说明|分析|简述|论述|explain|discuss|analy[sz]e|describe)"
)


def split_material(text: str) -> tuple[str | None, str]:
    """Separate a question's material from what is asked: `阅读材料，回答问题。` 材料：… （1）… （2）….

    The asking part is the opening instruction and everything from the first numbered part on; without parts,
    the closing questions. Returns (None, text) where nothing can be told apart.
    """
    lines = text.split("\n")
    opening = [lines[0]] if _INSTRUCTS.match(lines[0]) and len(lines[0]) < 80 and len(lines) > 1 else []
    rest = lines[len(opening) :]
    first = next((index for index, line in enumerate(rest) if _FIRST_PART.match(line)), None)
    if first is None:
        first = len(rest)
        while first > 0 and re.search(r"[？?]\s*(?:[（(][^（()）]{1,8}[)）])?$", rest[first - 1]):
            first -= 1
        if first == len(rest) and len(rest) > 1 and _REQUEST.match(rest[-1]):
            first = len(rest) - 1
    material, asking = rest[:first], rest[first:]
    # a line that only says that questions follow belongs to neither
    if material and asking and _ASKING_LEAD.fullmatch(material[-1]):
        material = material[:-1]
    if len(asking) > 1 and _ASKING_LEAD.fullmatch(asking[0]):
        asking = asking[1:]
    if not material or not (asking or opening):
        return None, text
    joined = "\n".join(material).strip()
    if not asking and not opening:
        return None, text
    if len(re.findall(r"(?m)^\s*【?(?:材料|案例|史料|资料|Material|Case|Passage)", joined)) == 1:
        joined = re.sub(r"^\s*【?(?:背景)?(?:材料|案例|资料|Material|Case|Passage)】?\s*[:：]\s*", "", joined)
    return joined or None, "\n".join([*opening, *asking]).strip()


def drop_asking_lead(material: str) -> str:
    """Drop the last line of a material where it only says that questions follow (`请回答：`)."""
    lines = material.split("\n")
    return "\n".join(lines[:-1]) if len(lines) > 1 and _ASKING_LEAD.fullmatch(lines[-1]) else material
