"""A judge that is asked in one sentence, and whose first line alone counts."""

import re

from tasks.judging.kinds import ParsedJudgement, render_sections

ASKED = {
    "zh": "请评阅下面的作答，第一行写星级（0 到 3），下面写理由。\n{sections}",
    "en": "Mark the response below: stars (0 to 3) in the first line, the reason below it.\n{sections}",
}


class TerseJudge:
    version = "2026.1"
    reply_schema = None

    def write_messages(self, question, response):
        sections = render_sections(question, response)
        return [{"role": "user", "content": ASKED[question.language].format(sections=sections)}]

    def parse_reply(self, text):
        found = re.search(r'(?:stars|Rating)"?: ([0-3])(?![\d.])', text)
        return ParsedJudgement(int(found[1]), "terse") if found else ParsedJudgement(None, None)


TERSE = TerseJudge()
