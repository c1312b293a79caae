"""Papers in LaTeX.

An enumerate is numbered, the choices of an item are lettered, and `% answer: B` is its key.
"""

import re

from tasks.ingest.readers import DocumentError, Extraction, Line


class TexReader:
    media_type = "text/x-tex"

    def read(self, data, options):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise DocumentError("corrupt", "The paper is not UTF-8. Save it in that encoding.") from None
        if "\\begin{document}" not in text:
            raise DocumentError("corrupt", "The paper has no \\begin{document}. Is it a whole LaTeX file?")
        body = text.partition("\\begin{document}")[2].partition("\\end{document}")[0]
        return Extraction("proctor-tex", "0.3", lines=[Line(line) for line in write_lines(body)])


def write_lines(body):
    number = 0
    letter = 0
    for raw in body.splitlines():
        line = raw.strip()
        if key := re.match(r"%\s*answer:\s*([A-Z]+)", line):
            yield f"Answer: {key[1]}"
        elif line.startswith("\\item"):
            number, letter = number + 1, 0
            words = line.removeprefix("\\item").strip()
            yield f"{number}. {words}"
        elif line.startswith("\\choice"):
            letter += 1
            words = line.removeprefix("\\choice").strip()
            yield f"{chr(64 + letter)}. {words}"
        elif line and not line.startswith(("\\", "%")):
            yield line.replace("\x00", "")


TEX = TexReader()
