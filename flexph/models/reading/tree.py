"""YAML 1.2 as plain data with the line and column of each value, and errors of model files with their position.

ruamel.yaml composes the nodes; no objects are constructed from tags. Refused are duplicate names, tags, merge keys,
anchors that contain themselves or multiply beyond a bound, deep nesting and large files.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from errno import EINVAL
from pathlib import Path as File
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

MOST = 20
"""Largest number of problems listed for one file."""

Path = tuple[str | int, ...]
"""Path of a value in a file: names in mappings and indices in lists."""


@dataclass(frozen=True)
class Problem:
    """Error in a file: path of the value, text with the wrong value and the remedy, line and column."""

    path: Path
    text: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {f'{dotted(self.path)}: ' if self.path else ''}{self.text}"


class ModelError(ValueError):
    """Model file that cannot be read, built or run.

    ``problems`` lists the errors, one per line of the message.
    """

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        self.name, self.problems = name, tuple(problems)
        more = len(self.problems) - MOST
        lines = [f"{name}:{problem}" for problem in self.problems[:MOST]]
        super().__init__("\n".join(lines + [f"… and {more} more"] * (more > 0)))

    def __reduce__(self) -> tuple[Any, ...]:
        return ModelError, (self.name, self.problems)


class Misfit(ValueError):
    """Error of the value at a path of a model file; it is converted to a ModelError, which also has the line."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        super().__init__(f"{dotted(path)}: {text}")


def dotted(path: Path) -> str:
    """Text of a path: ``bodies.rod.length``, ``connections[2].first``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


LARGEST, MANY, DEEPEST = 500_000, 50_000, 40
"""Limits: letters of a file, values in it (with anchors expanded), and levels of nesting."""
TAG = "tag:yaml.org,2002:"
PLAIN = ("map", "seq", "str", "int", "float", "bool", "null", "timestamp")
"""Allowed tags; a date is read as text."""
REMEDIES = {
    "'\\t'": "indent with spaces, not with tabs",
    "mapping values are not allowed": "a text with ': ' in it is written in quotes; a mapping begins on its own line",
    "undefined alias": "a text that begins with '*' is written in quotes",
    "another document": "one file holds one model: remove the line '---'",
    "quoted scalar": "the text in quotes has no end: add the second quote",
    "flow": "a list or mapping in brackets has no end, or lacks a comma",
    "block": "entries of a mapping or list begin in the same column",
    "cannot start any token": "a text with such a letter in front is written in quotes",
}
"""Remedies for errors of the parser, by words of its message."""


MANY_VALUES = f"more than {MANY} values, those of anchors counted wherever they are used: use tables (CSV) for numbers"
COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
SEPARATED = re.compile(r",|^[ \t]*- ", re.MULTILINE)
"""Pattern of the separators between values of lists and mappings."""


class _TooMany(Exception):
    """Error of a file with too many values; arguments: line and column of the first value beyond the limit."""


class _Counting(Composer):
    """YAML composer that stops once the file exceeds the largest number of values."""

    count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose the next node; raise _TooMany beyond the limit."""
        self.count += 1
        if self.count > 2 * MANY:  # names of mappings count as nodes, too
            mark = self.parser.peek_event().start_mark
            raise _TooMany(mark.line + 1, mark.column + 1)
        return super().compose_node(parent, index)


@dataclass(frozen=True)
class Tree:
    """Data of the file ``name``, with the line and column of each value and of each name of a mapping, by path."""

    name: str
    data: Any
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def problem(self, path: Path, text: str, *, of_name: bool = False) -> Problem:
        """Problem, described by ``text``, of the value at a path of the data, with line and column.

        ``of_name``: True if it is a problem of the name at the end of the path instead. If the position of the path is
        unknown, that of the nearest enclosing entry is used.
        """
        places = [self.keys, self.values] if of_name else [self.values]
        for end in range(len(path), -1, -1):
            for known in places:
                if path[:end] in known:
                    return Problem(path, text, *known[path[:end]])
        return Problem(path, text)


def read_file(path: File) -> Tree:
    """Parse a YAML file. Raises ModelError for invalid content and OSError if it cannot be read."""
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "no regular file", str(path))
    with open(path, "rb") as file:
        raw = file.read(4 * LARGEST + 1)
    try:
        return read_text(raw.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ModelError(str(path), [Problem((), "not a text in UTF-8: save it as UTF-8", line)]) from None


def read_text(text: str, name: str) -> Tree:
    """Parse a YAML text. Raises ModelError for invalid content, with ``name`` as the name of the file."""
    tree = Tree(name, None)
    if len(text) > LARGEST:
        wrong = f"more than {LARGEST} letters: put large sets of numbers into tables (CSV) or mesh files"
        raise ModelError(name, [Problem((), wrong)])
    if len(SEPARATED.findall(COMMENT.sub("", text))) > MANY:  # checked before parsing, which takes 0.1 ms for each
        raise ModelError(name, [Problem((), MANY_VALUES)])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of anchors that are used again, and of unknown directives
            yaml = YAML(typ="safe", pure=True)
            yaml.Composer = _Counting
            node = yaml.compose(text)
    except _TooMany as error:
        raise ModelError(name, [Problem((), MANY_VALUES, *error.args)]) from None
    except MarkedYAMLError as error:
        raise ModelError(name, [_of_parser(error)]) from None
    except RecursionError:
        raise ModelError(name, [Problem((), f"nested deeper than {DEEPEST} levels")]) from None
    except (YAMLError, ValueError, AssertionError, LookupError, AttributeError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(name, [Problem((), f"not YAML: {reason}")]) from None
    if node is None:
        raise ModelError(name, [Problem((), "the file is empty: 'flexph new NAME' writes an example")])
    walk = _Walk(tree, iter(range(MANY)))
    return Tree(name, walk.plain(node, ()), tree.values, tree.keys)


def _of_parser(error: MarkedYAMLError) -> Problem:
    said = " ".join(filter(None, (error.context, error.problem)))
    remedy = next((words for part, words in REMEDIES.items() if part in said), "see the line above, too")
    begin, mark = error.context_mark, error.problem_mark or error.context_mark
    if begin is not None and ("quoted scalar" in said or "flow" in said):
        mark, remedy = begin, f"{remedy} (noticed in line {mark.line + 1})"  # the end is missing somewhere before
    line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
    return Problem((), f"not YAML: {' '.join(said.split())}: {remedy}", line, column)


@dataclass(frozen=True)
class _Walk:
    """Converter of YAML nodes to plain data, which writes their positions to ``tree`` and stops at too many values."""

    tree: Tree
    budget: Iterator[int]

    def plain(self, node: Node, path: Path) -> Any:
        """Plain data of a node and all nodes below it.

        ``path`` is that of the node in the file.
        """
        self.tree.values[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
        kind = str(node.tag).removeprefix(TAG)
        if kind not in PLAIN:
            self._refuse(path, f"tags such as {str(node.tag)[:40]!r} are not read: write the value without")
        if next(self.budget, None) is None:
            self._refuse(path, MANY_VALUES)
        if len(path) > DEEPEST:
            self._refuse(path[:3], f"nested deeper than {DEEPEST} levels, or an anchor that contains itself")
        if isinstance(node, MappingNode):
            return dict(self._entries(node, path))
        if isinstance(node, ScalarNode):
            return self._scalar(kind, node.value, path)
        return [self.plain(entry, (*path, i)) for i, entry in enumerate(node.value)]

    def _entries(self, node: MappingNode, path: Path) -> Iterator[tuple[str, Any]]:
        seen: dict[str, int] = {}
        for key, value in node.value:
            line, column = key.start_mark.line + 1, key.start_mark.column + 1
            if not isinstance(key, ScalarNode) or str(key.tag) == f"{TAG}merge":
                raise ModelError(
                    self.tree.name, [Problem(path, "names must be texts; write entries out", line, column)]
                )
            name, below = str(key.value), (*path, str(key.value))
            if name in seen:
                text = f"given twice, before in line {seen[name]}: remove one, or rename it"
                raise ModelError(self.tree.name, [Problem(below, text, line, column)])
            seen[name] = line
            self.tree.keys[below] = self.tree.values[below] = (line, column)
            self._scalar("str", name, below)
            yield name, self.plain(value, below)
            if value.start_mark.line > key.start_mark.line:  # a value on a later line: point to its name
                self.tree.values[below] = (line, column)

    def _scalar(self, kind: str, text: str, path: Path) -> Any:
        if not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text):
            self._refuse(path, "a text with half a letter, such as \\ud800: write the letter itself")
        try:
            match kind:
                case "null":
                    return None
                case "bool":
                    return text.lower() == "true"
                case "int":
                    return _whole(text.replace("_", ""))
                case "float":
                    number = float(text.lower().replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
                    return number if math.isfinite(number) else self._refuse(path, f"{text} is not a finite number")
                case _:
                    return text
        except ValueError as error:
            if isinstance(error, ModelError):
                raise
            return self._refuse(path, f"{text[:40]!r} is no number that can be read")

    def _refuse(self, path: Path, text: str) -> Any:
        raise ModelError(self.tree.name, [self.tree.problem(path, text)])


def _whole(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:  # 010 is ten in YAML 1.2
        return int(text, 10)
