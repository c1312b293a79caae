"""The parts of tasks/ and warehouse/ that a command or a flow can reach.

This is read from the source and nothing else.

A node is a module-level name: a function, a class, an assignment; the statements between them are the module's own node.
An edge is a use of a name: through the module's names, its imports (followed to where the name is defined) or an
attribute of an imported module. To import is not to use. A class is used where it can be made: its name in an annotation,
in `isinstance` or in `except` makes none. A module whose dotted
name stands in a text (a child process) runs with what it does under `__main__`; `module:name` in a text (an entry point) uses the name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

OWN_NODE = ""
MAIN_NODE = "__main__"
# Classes that are never made: they describe what others make, and an annotation is their use.
_SHAPES = ("Protocol", "TypedDict")


class Node(NamedTuple):
    """A module-level name of a module."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass
class Use:
    """A use by one node, by local name and attribute path.

    It also tells whether the use is of a kind that makes things.
    """

    paths: set[tuple[str, ...]] = field(default_factory=set)
    annotations: set[tuple[str, ...]] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    imports: dict[str, str] = field(default_factory=dict)


@dataclass
class Module:
    """A module's nodes, and what its names import."""

    name: str
    uses: dict[str, Use] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    imported: set[str] = field(default_factory=set)


def read_modules(root: Path, folders: Iterable[str]) -> dict[str, Module]:
    """Every module below these folders by its dotted name."""
    modules: dict[str, Module] = {}
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            tree = ast.parse(path.read_text(encoding="utf-8"))
            modules[name] = _read_module(name, tree, is_package=parts[-1] == "__init__")
            face = path.with_name("__init__.pyi")
            if parts[-1] == "__init__" and face.exists():
                # What a face names is loaded when it is asked for: to stand there is not to be used.
                for node in ast.parse(face.read_text(encoding="utf-8")).body:
                    if isinstance(node, ast.ImportFrom):
                        modules[name].imports |= _read_import(name, node, is_package=True)
    return modules


def find_reached(modules: Mapping[str, Module], roots: Iterable[Node]) -> set[Node]:
    """All nodes that can be reached from these."""
    reached: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node in reached or node.name not in modules[node.module].uses:
            continue
        reached.add(node)
        waiting += _follow(modules, node)
    return reached


def list_nodes(modules: Mapping[str, Module], folders: Iterable[str]) -> list[Node]:
    """Every node of the modules below these folders: all of what runs a program."""
    return [
        Node(name, used)
        for name, module in modules.items()
        if name.split(".")[0] in set(folders)
        for used in module.uses
    ]


def list_definitions(modules: Mapping[str, Module], folders: Iterable[str]) -> list[Node]:
    """The functions and classes of the modules below these folders."""
    return [
        node
        for node in list_nodes(modules, folders)
        if modules[node.module].kinds.get(node.name) in ("function", "class", "shape")
    ]


def _follow(modules: Mapping[str, Module], node: Node) -> Iterator[Node]:
    module = modules[node.module]
    use = module.uses[node.name]
    yield Node(node.module, OWN_NODE)
    if node.name == OWN_NODE:
        yield from (Node(name, OWN_NODE) for name in module.imported if name in modules)
    for path in use.paths:
        yield from _resolve(modules, module, use.imports, path)
    for path in use.annotations:
        for found in _resolve(modules, module, use.imports, path):
            # A function in an annotation is called (`Depends(read_token)`); an alias of types leads on.
            if modules[found.module].kinds.get(found.name) != "class":
                yield found
    for text in use.texts:
        if text in modules:
            yield from (Node(text, name) for name in (OWN_NODE, MAIN_NODE))
        source, _, name = text.partition(":")
        if name and source in modules:  # an entry point
            yield Node(source, name)


def _resolve(
    modules: Mapping[str, Module], module: Module, local: Mapping[str, str], path: tuple[str, ...]
) -> Iterator[Node]:
    """The nodes that a path of names stands for, seen from a module.

    Imports are followed to the definition.
    """
    name, rest = path[0], path[1:]
    target = local.get(name) or (None if name in module.uses else module.imports.get(name))
    if target is None:
        if name in module.uses:
            yield Node(module.name, name)
        return
    parts = [*target.split("."), *rest]
    for end in range(len(parts), 0, -1):
        source = ".".join(parts[:end])
        if source in modules:
            if end < len(parts):
                yield from _resolve(modules, modules[source], {}, tuple(parts[end:]))
            return


def _read_module(name: str, tree: ast.Module, *, is_package: bool) -> Module:
    module = Module(name)
    module.uses[OWN_NODE] = Use()
    for statement in tree.body:
        _read_statement(module, statement, is_package=is_package)
    return module


def _read_statement(module: Module, statement: ast.stmt, *, is_package: bool) -> None:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _note(module, statement.name, "function", statement, is_package)
        case ast.ClassDef():
            is_shape = any(ast.unparse(base) in _SHAPES for base in statement.bases)
            _note(module, statement.name, "shape" if is_shape else "class", statement, is_package)
        case ast.Import() | ast.ImportFrom():
            found = _read_import(module.name, statement, is_package)
            module.imports |= found
            module.imported |= set(found.values()) | {path.rpartition(".")[0] for path in found.values()}
        case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target)):
            if target != "__all__":
                _note(module, target, "value", statement, is_package)
        case ast.If(test=test, body=body):
            condition = ast.unparse(test)
            if "TYPE_CHECKING" in condition:
                for inner in body:
                    _read_statement(module, inner, is_package=is_package)
            elif "__main__" in condition:
                for inner in body:
                    _note(module, MAIN_NODE, "value", inner, is_package)
            else:
                _note(module, OWN_NODE, "value", statement, is_package)
        case _:
            _note(module, OWN_NODE, "value", statement, is_package)


def _note(module: Module, name: str, kind: str, statement: ast.stmt, is_package: bool) -> None:
    use = module.uses.setdefault(name, Use())
    module.kinds.setdefault(name, kind)
    _Reader(module.name, use, is_package).visit(statement)


def _read_import(module: str, node: ast.Import | ast.ImportFrom, is_package: bool) -> dict[str, str]:
    """Local name → dotted path of what it stands for."""
    if isinstance(node, ast.Import):
        return {
            (alias.asname or alias.name.split(".")[0]): (
                alias.name if alias.asname else alias.name.split(".")[0]
            )
            for alias in node.names
        }
    parts = module.split(".")
    above = parts[: len(parts) - node.level + is_package] if node.level else []
    source = ".".join([*above, *([node.module] if node.module else [])])
    return {alias.asname or alias.name: f"{source}.{alias.name}" for alias in node.names}


class _Reader(ast.NodeVisitor):
    """Collects what a statement uses; names that a function binds itself hide the module's."""

    def __init__(self, module: str, use: Use, is_package: bool) -> None:
        self._module = module
        self._use = use
        self._is_package = is_package
        self._hidden: list[set[str]] = []
        self._is_annotation = False

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)
        every = (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        )
        for argument in every:
            if argument is not None and argument.annotation is not None:
                self._visit_annotation(argument.annotation)
        if node.returns is not None:
            self._visit_annotation(node.returns)
        self._hidden.append(_list_bound(node.body) | {one.arg for one in every if one is not None})
        for statement in node.body:
            self.visit(statement)
        self._hidden.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        arguments = node.args
        self._hidden.append(
            {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        )
        self.generic_visit(node)
        self._hidden.pop()

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self._use.imports |= _read_import(self._module, node, self._is_package)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.visit_Import(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_annotation(node.annotation)
        if node.value is not None:
            self.visit(node.value)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if isinstance(node.type, ast.Call):
            self.visit(node.type)
        for statement in node.body:
            self.visit(statement)

    def visit_Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        arguments = node.args
        if isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
            arguments = arguments[:1]
        for argument in (*arguments, *(keyword.value for keyword in node.keywords)):
            self.visit(argument)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for pattern in (*node.patterns, *node.kwd_patterns):
            self.visit(pattern)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        names: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            names.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self._add((inner.id, *reversed(names)))
        else:
            self.visit(inner)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._add((node.id,))

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and "." in node.value:
            self._use.texts.add(node.value)

    def _visit_annotation(self, node: ast.expr) -> None:
        before, self._is_annotation = self._is_annotation, True
        self.visit(node)
        self._is_annotation = before

    def _add(self, path: tuple[str, ...]) -> None:
        if not any(path[0] in hidden for hidden in self._hidden):
            (self._use.annotations if self._is_annotation else self._use.paths).add(path)


def _list_bound(body: Iterable[ast.stmt]) -> set[str]:
    """Names that a function binds by assigning to them.

    Imports, and the names that inner functions bind, are not among them.
    """
    bound: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        if isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
        waiting += ast.iter_child_nodes(node)
    return bound
