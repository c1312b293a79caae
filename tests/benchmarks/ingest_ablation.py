"""Which functions and branches of ingest any paper needs, and of how many sources.

Every function and every branch of tasks.ingest is numbered when it is loaded. `count` reads all papers once and notes for each in
which papers it did anything: a branch was taken, a function returned other than its neutral value (what was given, nothing, False).
`off` switches off what papers of few sources need, reads those papers again, and prints what is lost without it.

    python -m tests.benchmarks.ingest_ablation count COUNTED.json FOLDER… [dresses=200] [list=split.json:dev]
    python -m tests.benchmarks.ingest_ablation off COUNTED.json [from=1] [sources=1] [least=6] [papers=1000] [name=PART]

A folder with truth files gives listed questions; of any other all files are read, and only a change is seen (`list` says which files
may be looked at). Made papers (`dresses`) count as one source, `made`. Scans are read where the cache has their OCR.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib.machinery
import json
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

ROOM, TAGGING = "tasks.ingest", "tasks.ingest.tagging"
EMPTY: dict[str, Callable[[], Any]] = {
    "bool": bool,
    "str": str,
    "int": int,
    "float": float,
    "list": list,
    "dict": dict,
    "set": set,
    "tuple": tuple,
}
EMPTY |= {"Iterator": lambda: iter(()), "None": lambda: None}


def differs(one: Any, other: Any) -> bool:
    """Whether two results differ; pictures are compared by identity alone."""
    if one is other or hasattr(one, "shape"):
        return one is not other
    return bool(one != other)


class Rules:
    """All rules, those that did something, and the one switched off.

    A rule is a name, its lines, and the kind of its neutral value.
    """

    def __init__(self) -> None:
        self.all: list[tuple[str, int, str]] = []
        self.met: set[int] = set()
        self.off = -1

    def add(self, name: str, node: Sequence[ast.stmt], neutral: str) -> int:
        """The number of a new rule, whose lines are those of its statements."""
        self.all.append((name, (node[-1].end_lineno or 0) - node[0].lineno + 1, neutral))
        return len(self.all) - 1

    def branch(self, taken: int, left: int, value: object) -> object:
        """What a test came to; the other way where its branch is switched off."""
        self.met.add(taken if value else left)
        return (not value) if self.off == (taken if value else left) else value

    def watch(self, number: int) -> Callable[[FunctionType], Callable[..., Any]]:
        """The decorator that notes whether a function ever did anything."""
        kind = self.all[number][2]

        def neutral(given: tuple[Any, ...]) -> Any:
            return given[0] if kind == "given" else EMPTY[kind]()

        def decorate(function: FunctionType) -> Callable[..., Any]:
            def watched(*given: Any, **named: Any) -> Any:
                if self.off == number and kind:
                    return neutral(given)
                result = function(*given, **named)
                if number not in self.met:
                    if not kind or kind == "Iterator" or (kind == "None" and "None" in str(returns)):
                        self.met.add(
                            number
                        ) if kind != "None" or result is not None or returns == "None" else None
                    elif differs(result, neutral(given)):
                        self.met.add(number)
                return result

            returns = function.__annotations__.get("return", "")
            watched.__dict__.update(
                __wrapped__=function, __name__=function.__name__, __doc__=function.__doc__
            )
            return watched

        return decorate


RULES = Rules()


class _Numbering(ast.NodeTransformer):
    def __init__(self, module: str) -> None:
        self.module, self.names = module.removeprefix(f"{ROOM}."), [""]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.names.append(node.name)
        self.generic_visit(node)
        self.names.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        name = ".".join(one for one in (*self.names, node.name) if one)
        self.names.append(node.name)
        self.generic_visit(node)
        self.names.pop()
        decorators = " ".join(ast.unparse(one) for one in node.decorator_list)
        returns = ast.unparse(node.returns) if node.returns else ""
        first = next((one for one in node.args.args if one.arg not in ("self", "cls")), None)
        kind = "None" if returns.endswith("None") else returns.split("[")[0]
        if (
            first
            and first is node.args.args[0]
            and first.annotation
            and ast.unparse(first.annotation) == returns
        ):
            kind = "given"
        kind = "" if kind not in (*EMPTY, "given") or "contextmanager" in decorators else kind
        number = RULES.add(f"{self.module}:{name}", [node], kind)
        if not any(one in decorators for one in ("overload", "abstract", "property")):
            node.decorator_list.append(ast.parse(f"ablation_rules.watch({number})", mode="eval").body)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        place = f"{self.module}:{node.lineno}"
        taken = RULES.add(f"{place} if {ast.unparse(node.test)[:70]}", node.body, "branch")
        left = RULES.add(f"{place} else", node.orelse or node.body[-1:], "branch" if node.orelse else "")
        self.generic_visit(node)
        call = ast.parse(f"ablation_rules.branch({taken}, {left}, 0)", mode="eval").body
        assert isinstance(call, ast.Call)
        call.args[2], node.test = node.test, call
        return node


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        tree = _Numbering(fullname).visit(ast.parse(Path(self.path).read_text(encoding="utf-8")))
        code: CodeType = compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)
        return code


class _Finder:
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith(f"{ROOM}.") or name.startswith(TAGGING):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and spec.origin and spec.origin.endswith(".py") and not spec.submodule_search_locations:
            spec.loader = _Loader(name, spec.origin)
        return spec


def measure(paper: dict[str, Any]) -> dict[str, Any]:
    """Read a paper.

    Returned are its listed questions right, its count, a digest of its questions, CPU seconds, and what it met.
    """
    from tests.benchmarks import ingest_accuracy, ingest_dresses

    for key, module in list(sys.modules.items()):
        for value in list(vars(module).values()) if key.startswith(ROOM) else ():
            if hasattr(value, "cache_clear") and "tagging" not in key:
                value.cache_clear()
    RULES.met, started = set(), time.process_time()
    signal.alarm(int(paper.get("limit", 300)))
    found: dict[str, Any] = {"right": -1, "count": -1, "digest": "failed"}
    try:
        if "seed" in paper:
            seen = ingest_dresses.judge(paper["seed"])
            found = {
                "right": seen.right,
                "count": seen.count,
                "digest": repr([one[1:] for one in seen.wrong]),
            }
        else:
            landed = ingest_accuracy.read_landed(Path(paper["path"]))
            keys = ("question_type", "stem", "options", "answer", "material", "explanation", "pictures")
            told = [[one.get(key) for key in keys] for one in landed["questions"]]
            found = {"right": 0, "count": len(told), "digest": repr((landed["document"]["status"], told))}
            if paper["truth"]:
                row = ingest_accuracy.compare(landed["document"], landed["questions"], paper["truth"])
                found |= {"right": row["right_count"], "off": abs(row["count"] - row["truth_count"])}
    except Exception as error:
        found["digest"] = repr(error)[:200]
        print(paper["path"], found["digest"], file=sys.stderr)
    signal.alarm(0)
    found["digest"] = hashlib.sha256(found["digest"].encode()).hexdigest()[:16]
    return found | {"cpu": time.process_time() - started, "met": sorted(RULES.met)}


def list_papers(folders: Sequence[str], seeds: int, allowed: set[str] | None) -> list[dict[str, Any]]:
    """The papers of folders with their sources and truths, and made ones."""
    from tasks.ingest.confidence import read_truths

    found: dict[str, dict[str, Any]] = {}
    for folder in map(Path, folders):
        readme = (
            (folder / "README.md").read_text(encoding="utf-8") if (folder / "README.md").is_file() else ""
        )
        rows = [line.split("|") for line in readme.splitlines() if line.startswith("| ") and " @ " in line]
        sources = {row[1].strip(): row[2].split("@")[0].strip() for row in rows}
        truths = read_truths(folder) if (folder / "truth").is_dir() else {}
        for path in [folder / one for one in truths] or sorted(folder.rglob("*.*")):
            name = str(path.relative_to(folder))
            if not path.is_file() or path.stat().st_size > 3_000_000 or name == "README.md":
                continue
            if truths or allowed is None or name in allowed or "/demo/" in str(path):
                truth = truths.get(name)
                source = _name_source(truth) if truth else sources.get(name, path.parent.name)
                key = hashlib.sha256(path.read_bytes()).hexdigest()
                found.setdefault(key, {"path": str(path), "source": source, "truth": truth})
    made = [{"path": f"made {seed}", "seed": seed, "source": "made", "truth": None} for seed in range(seeds)]
    return [*found.values(), *made]


def _name_source(truth: dict[str, Any]) -> str:
    source = truth.get("source")
    return str(source["repo"] if isinstance(source, dict) and source.get("repo") else truth["file"])


def _load() -> None:
    import pkgutil

    vars(builtins)["ablation_rules"] = RULES
    sys.meta_path.insert(0, _Finder())
    package = importlib.import_module(ROOM)
    for info in pkgutil.walk_packages(package.__path__, f"{ROOM}."):
        importlib.import_module(info.name)

    def no_engine() -> Any:
        raise TimeoutError("the cache has no OCR of this page")

    sys.modules[f"{ROOM}.readers.ocr"]._make_engine = no_engine  # type: ignore[attr-defined]
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("limit")))


def count(target: Path, papers: Sequence[dict[str, Any]]) -> None:
    """Read all papers once and write what each rule met."""
    with get_context("fork").Pool(2) as pool:
        found = pool.map(measure, papers, chunksize=1)
    for paper, result in zip(papers, found, strict=True):
        paper["usual"] = result
    target.write_text(
        json.dumps({"rules": RULES.all, "papers": papers}, ensure_ascii=False), encoding="utf-8"
    )
    print("not read:", [one["path"] for one in papers if one["usual"]["right"] < 0])
    print(f"{len(papers)} papers, {sum(one['right'] for one in found if one['right'] > 0)} questions right")


def _try(task: tuple[int, list[dict[str, Any]]]) -> tuple[int, list[tuple[str, int, bool]]]:
    RULES.off, papers = task
    made = []
    for paper in papers:
        new, usual = measure({**paper, "limit": 20 + 10 * paper["usual"]["cpu"]}), paper["usual"]
        worse = usual["right"] - new["right"] + (new.get("off", 0) > usual.get("off", 0))
        made.append((paper["path"], worse, new["digest"] != usual["digest"]))
    return task[0], made


def main(arguments: Sequence[str]) -> None:
    """Count what papers meet, or switch off what few sources need."""
    from tests.benchmarks.ingest_cache import use_cache

    named = dict(one.split("=", 1) for one in arguments if "=" in one)
    plain = [one for one in arguments[1:] if "=" not in one]
    _load()
    with use_cache():
        if arguments[0] == "count":
            file, _, part = named.get("list", "").partition(":")
            allowed = set(json.loads(Path(file).read_text(encoding="utf-8"))[part]) if file else None
            count(Path(plain[0]), list_papers(plain[1:], int(named.get("dresses", 0)), allowed))
            return
        counted = json.loads(Path(plain[0]).read_text(encoding="utf-8"))
        if [tuple(one) for one in counted["rules"]] != RULES.all:
            sys.exit("The code has changed since it was counted: count again.")
        met = defaultdict(list)
        for paper in counted["papers"]:
            for number in paper["usual"].pop("met"):
                met[number].append(paper)
        ranks = {number: len({paper["source"] for paper in papers}) for number, papers in met.items()}
        most, least, part = int(named.get("sources", 1)), int(named.get("least", 6)), named.get("name", "")
        fewest = int(named.get("from", 1))
        tasks = [
            (number, met[number])
            for number, (name, lines, kind) in enumerate(RULES.all)
            if kind and lines >= least and part in name and fewest <= ranks.get(number, 0) <= most
        ]
        for task in tasks:  # of many papers the cheapest with truth are read
            task[1].sort(key=lambda paper: (paper["usual"]["right"] <= 0, paper["usual"]["cpu"]))
            del task[1][int(named.get("papers", 1000)) :]
        tasks.sort(key=lambda task: (-RULES.all[task[0]][1], task[0]))
        with get_context("fork").Pool(2) as pool:
            for number, made in pool.imap(_try, tasks):
                name, lines, _ = RULES.all[number]
                lost, changed = sum(worse for _, worse, _ in made), sum(differs for *_, differs in made)
                sources = ranks[number]
                print(f"{lines:5}{sources:4}{len(made):4}{changed:5}{lost:5}  {name}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
