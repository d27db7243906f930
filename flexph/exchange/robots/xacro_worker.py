"""Program of the process that expands xacro files by the library xacro: ``python -m …xacro_worker REQUEST ANSWER``.

Files are not trusted. Expressions must be arithmetic, because the library would evaluate any Python code. A file can
refer to arguments and packages, but not to the environment, and only to files in its folder or packages. REQUEST and
ANSWER are JSON files.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...files.reading import refuse_entities
from .named_files import named_file

MATHEMATICS = {
    *("abs", "acos", "asin", "atan", "atan2", "bool", "ceil", "cos", "degrees", "exp", "float", "floor", "hypot"),
    *("int", "len", "log", "max", "min", "pow", "radians", "round", "sin", "sqrt", "str", "tan"),
}
"""Functions of expressions, also as ``math.NAME``."""
CONSTANTS = {"pi", "e", "tau", "inf", "nan"}
ALLOWED = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Call, ast.IfExp, ast.Subscript, ast.Slice),
    *(ast.List, ast.Tuple, ast.Dict, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)
"""Parts of expressions that cannot leave their own values; attributes are those of ``math``, and ``xacro.arg``."""
SUBSTITUTION = re.compile(r"\$\((arg|find)\s+([\w-]+)\s*\)")


class RefusedError(Exception):
    """Error of a file that cannot or must not be expanded."""


def refuse_programs(expression: str) -> None:
    """Raise RefusedError for an expression that is more than arithmetic."""
    try:
        parts = list(ast.walk(ast.parse(expression.strip(), mode="eval")))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise RefusedError(f"the expression {expression!r} is no valid Python: {error}") from error
    for part in parts:
        known = isinstance(part, ALLOWED)
        if isinstance(part, ast.Attribute):
            owner = part.value.id if isinstance(part.value, ast.Name) else ""
            known = part.attr in {"math": MATHEMATICS | CONSTANTS, "xacro": {"arg"}}.get(owner, ())
        elif isinstance(part, ast.Name):
            known = not part.id.startswith("_")
        elif isinstance(part, ast.Call):
            called = part.func.id if isinstance(part.func, ast.Name) else getattr(part.func, "attr", "")
            known = called in MATHEMATICS or (called == "arg" and isinstance(part.func, ast.Attribute))
        if not known:
            raise RefusedError(f"the expression {expression!r} must be arithmetic with functions of mathematics")


def expanded(file: Path, arguments: Mapping[str, str]) -> str:
    """Text of a xacro file with its macros expanded.

    Raises RefusedError, and ModuleNotFoundError if the library is missing.
    """
    import xacro

    given = dict(arguments)
    originals = {name: getattr(xacro, name) for name in ("safe_eval", "parse", "eval_text")}

    def safe_eval(expression: str, *scopes: Any) -> Any:
        refuse_programs(expression)
        return originals["safe_eval"](expression, *scopes)

    def eval_extension(text: str) -> str:
        match = SUBSTITUTION.fullmatch(text)
        if match is None:
            raise RefusedError(f"{text!r} is not allowed: write $(arg NAME) or $(find PACKAGE)")
        if match[1] == "find":
            return f"package://{match[2]}"
        if match[2] not in given:
            raise RefusedError(f"the argument {match[2]!r} must be given: it has no default")
        return given[match[2]]

    def get_include_files(named: str, symbols: Any) -> Iterator[str]:
        name = str(originals["eval_text"](named, symbols))
        base = Path(xacro.filestack[-1]) if "://" not in name else file
        try:
            path = str(named_file(base, name, "include"))
        except (ValueError, OSError) as error:
            raise RefusedError(str(error)) from error
        xacro.all_includes.append(path)
        yield path

    def parse(inp: Any, filename: str | None = None) -> Any:
        assert inp is None and filename is not None
        content = Path(filename).read_bytes()
        refuse_entities(content)
        return originals["parse"](content.decode("utf-8", "strict"), filename)

    for function in (safe_eval, eval_extension, get_include_files, parse):
        setattr(xacro, function.__name__, function)
    document = xacro.process_file(str(file), mappings=given)
    return str(document.toxml())


def main(request_file: str, answer_file: str) -> None:
    """Write the answer to the request in a file; errors of the file and a missing library are written as answers."""
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    answer: dict[str, str]
    try:
        answer = {"text": expanded(Path(request["file"]), request["arguments"])}
    except ModuleNotFoundError as error:
        answer = {"missing": str(error)}
    except RecursionError:
        answer = {"refused": "its macros or includes contain themselves"}
    except Exception as error:  # the library raises errors of any type
        answer = {"refused": " ".join(str(error).split()) or type(error).__name__}
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
