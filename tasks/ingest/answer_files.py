"""Which of the files in a folder hold the answers of another, by their names."""

from __future__ import annotations

import re
import stat
from functools import lru_cache
from pathlib import Path

# Latin words stand alone: `Turkey` holds no key
_ANSWER_WORDS = re.compile(
    r"[\s_\-—–.（(【\[]*(?:(?:参考|标准|正确|试题|试卷)?(?:答案|解析|解答)(?:[及和与]?(?:评分标准|评分细则|解析|解答|答案|详解))*|"
    r"(?<![a-z])(?:the[\s_\-]*)?(?:answers?[\s_\-]*(?:keys?|sheet|file)?|keys?|solutions?|ans[\s_\-]*key|ans|marking[\s_\-]*scheme)(?![a-z]))[)）】\]]*",
    re.IGNORECASE,
)


def find_companion(path: Path) -> Path | None:
    """Return the file beside a paper whose name says that it holds the paper's answers, or None.

    So `期末A.docx` and `期末A答案.docx`.
    """
    if _ANSWER_WORDS.search(path.stem):
        return None
    try:
        changed = path.parent.stat().st_mtime_ns
        found = _list_answer_files(path.parent, changed).get(path.stem.strip().casefold())
        return found if found is not None and found.name != path.name and _is_own_file(found) else None
    except OSError:
        return None


def _is_own_file(path: Path) -> bool:
    """Whether it is a file and no link, which may lead anywhere."""
    return stat.S_ISREG(path.lstat().st_mode)


@lru_cache(maxsize=256)
def _list_answer_files(folder: Path, _changed: int) -> dict[str, Path]:
    """The answer files of a folder by the name of their paper.

    They are listed once per state of the folder.
    """
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if not file.name.startswith((".", "~$")) and _ANSWER_WORDS.search(file.stem):
            found.setdefault(_ANSWER_WORDS.sub("", file.stem).strip().casefold(), file)
    return found
