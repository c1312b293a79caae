"""Which of the files in a folder hold the answers of another, by their names."""

from __future__ import annotations

import stat
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

import yaml

from schemas import patterns as re

# words of alphabets stand alone, Chinese and Japanese ones are looked for within what is written
_ALPHABETS = "A-Za-z\u00c0-\u024f\u0370-\u052f"
_PART = re.compile(rf"[{_ALPHABETS}]+|\d+|[^\W\d_{_ALPHABETS}]+")


# two words, of which one alone says nothing: `Mark`
_SCHEME = re.compile(r"(?<![^\W_])mark[\s_-]+scheme(?![^\W_])")


@dataclass(frozen=True)
class FileName:
    """What a file's name says: its subject in any order of words, and whether it is a key."""

    subject: tuple[str, ...]
    is_key: bool


@lru_cache(maxsize=4096)
def read_name(stem: str) -> FileName:
    """Read the name of a file without its ending.

    `期末试题` and `期末试题答案`, `9618_s23_qp_23` and `9618_s23_ms_23` are of the same subject.
    """
    words = _words()
    subject: list[str] = []
    is_key = False
    for part in _PART.findall(_SCHEME.sub("markscheme", unicodedata.normalize("NFC", stem).casefold())):
        if _stands_alone(part):
            is_key = is_key or part in words["key"]
            if not any(part in known for known in words.values()):
                subject.append(part)
            continue
        # a word of papers is looked for first where it holds one of keys: 无答案
        for word in words["paper"]:
            if not _stands_alone(word):
                part = part.replace(word, " ")
        for word in words["key"]:
            if not _stands_alone(word) and word in part:
                is_key, part = True, part.replace(word, " ")
        for own in part.split():
            for word in words["fill"]:
                if not _stands_alone(word):
                    own = own.removesuffix(word).removeprefix(word)
            for word in words["occasion"]:
                own = own.replace(word, f" {word} ")
            subject.extend(own.split())
    return FileName(tuple(sorted(subject)), is_key)


def _stands_alone(word: str) -> bool:
    return word[0] < "\u0530"


@lru_cache(maxsize=1)
def _words() -> dict[str, tuple[str, ...]]:
    source = resources.files("tasks.ingest.words").joinpath("file_names.yaml").read_text(encoding="utf-8")
    return {role: tuple(map(str, words)) for role, words in yaml.safe_load(source).items()}


def find_companions(path: Path) -> list[Path]:
    """The files beside a paper whose names say that they hold its answers; several where unsure."""
    name = read_name(path.stem)
    if name.is_key:
        return []
    try:
        changed = path.parent.stat().st_mtime_ns
        named = _list_files(path.parent, changed)
        files = named.get((name.subject, True)) or _find_shortened(name, named)
        found = [file for file in files if file.name != path.name and _is_own_file(file)]
    except OSError:
        return []
    same = [file for file in found if file.suffix.casefold() == path.suffix.casefold()]
    stems = {file.stem for file in found}
    return (same or found)[:1] if len(stems) == 1 else same if len(same) == 1 else found


# A key may leave out which examination it is of: so many words of its name must be those of its paper. Two Chinese
# characters are a word.
_LEAST_SHARED = 3


def _find_shortened(
    name: FileName, files: Mapping[tuple[tuple[str, ...], bool], list[Path]]
) -> Sequence[Path]:
    """The keys `JHS 2 SCIENCE MARKING SCHEME` of the one paper `JHS 2 SCIENCE END OF TERM TWO`.

    So with `计网A卷答案` of `计算机网络2024秋A卷`: what it shortens, and all else of its name, is there.
    """
    found: list[Path] = []
    for (subject, is_key), keys in files.items():
        if not is_key or not _holds(name.subject, subject):
            continue
        papers = [
            path
            for (other, key), paths in files.items()
            if not key and _holds(other, subject, _may_abbreviate)
            for path in paths
        ]
        found += keys if len(papers) == 1 else []
    return found if len(found) == 1 else ()


def _holds(
    subject: Sequence[str], shortened: Sequence[str], abbreviates: Callable[[str, str], bool] | None = None
) -> bool:
    """Whether all that a key's name says of its subject is said by its paper's name, too.

    Words of alphabets and numbers must be the same; one that is written without spaces may be abbreviated, or be what the longer
    one ends with: `职测模拟` of `事业单位联考职测模拟`. Two characters of it weigh as a word.
    """
    # the key to one of two versions says which
    versions = {word for word in subject if len(word) == 1 and word.isascii() and word.isalpha()}
    if len(shortened) > len(subject) or not versions <= set(shortened):
        return False
    shortens = abbreviates or _abbreviates
    left = [*subject]
    weight = 0
    for word in sorted(shortened, key=len, reverse=True):
        found = next((other for other in left if word == other), None)
        weighed = word
        if found is None and not _stands_alone(word):
            found = next((other for other in left if other.endswith(word) or shortens(word, other)), None)
            weighed = found if found is not None and word not in found else word[: 2 * (len(word) // 2)]
        if found is None:
            return False
        left.remove(found)
        weight += 1 if _stands_alone(word) else -(-len(weighed) // 2)
    return weight >= _LEAST_SHARED


def _may_abbreviate(short: str, word: str) -> bool:
    """Whether all characters of a name stand in a longer one in their order.

    Of two such papers the key tells none.
    """
    rest = iter(word)
    return short[0] == word[0] > "\u2e80" and all(sign in rest for sign in short)


def _abbreviates(short: str, word: str) -> bool:
    """Whether `计网` shortens `计算机网络`: the first characters of its first and last word.

    `大学物理实验` is no `大物`, and `中国近代史` no `中国史`: those are names of other subjects. Words have two characters, and
    `学` may end the last.
    """
    last = word.removesuffix("学") if len(word) % 2 else word
    return len(short) == 2 and len(word) > 3 and short[0] == word[0] > "\u2e80" and short[1] == last[-2]


def find_companion(path: Path) -> Path | None:
    """Return the one file whose name says that it holds a paper's answers, or None."""
    found = find_companions(path)
    return found[0] if len(found) == 1 else None


def find_answered(path: Path) -> Path | None:
    """Return the one paper beside an answer file that is answered from it, or None."""
    name = read_name(path.stem)
    if not name.is_key:
        return None
    try:
        named = _list_files(path.parent, path.parent.stat().st_mtime_ns)
    except OSError:
        return None
    files = named.get((name.subject, False)) or [
        path
        for (subject, is_key), paths in named.items()
        if not is_key and _holds(subject, name.subject)
        for path in paths
    ]
    found = [file for file in files if find_companion(file) == path]
    return found[0] if len(found) == 1 else None


def _is_own_file(path: Path) -> bool:
    """Whether it is a file and no link, which may lead anywhere."""
    return stat.S_ISREG(path.lstat().st_mode)


@lru_cache(maxsize=256)
def _list_files(folder: Path, _changed: int) -> dict[tuple[tuple[str, ...], bool], list[Path]]:
    """The files of a folder by the subject of their paper, and whether they hold its answers."""
    found: dict[tuple[tuple[str, ...], bool], list[Path]] = {}
    for file in sorted(folder.iterdir()):
        name = read_name(file.stem)
        if not file.name.startswith((".", "~$")):
            found.setdefault((name.subject, name.is_key), []).append(file)
    return found
