"""Benchmarks that `make bench` runs one after the other, in one process."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.benchmarks.__main__ import ALL
from tests.benchmarks.exam_load import Load, render_load


def test_no_benchmark_takes_the_names_on_the_command_line_for_options_of_its_own() -> None:
    defaults = {}
    for name in ALL:
        tree = ast.parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
        (main,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
        assert len(main.args.defaults) == len(main.args.args), f"{name} does not run without arguments"
        defaults[name] = [ast.unparse(default) for default in main.args.defaults]
    # `parse_args(None)` reads what was typed for the one that runs them all.
    assert [name for name, given in defaults.items() if "None" in given] == []


def test_a_load_without_an_answer_gives_no_figure_of_one() -> None:
    load = Load(cpu_s={"api": 9.6}, wall_s=4)
    assert (
        render_load("no pause", load)
        == "no pause: nothing to measure, no answer in 4 s; more --seconds bring some"
    )
