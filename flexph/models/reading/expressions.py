"""Expressions of time or of a rate: ``150*t``, ``where(t < 1, sin(2*pi*t), 0)``.

Python's parser (:mod:`ast`) reads them. Only numbers, names, signs, + - * / ** %, comparisons and calls of the
functions below are accepted and become functions of one value; nothing else is evaluated. All numbers are
floating-point, so that no power takes long. Existing libraries for expressions store names in an evaluator, which
threads cannot share, and traverse the syntax tree at every call.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...units.words import nearest

LONGEST, DEEPEST = 2000, 60
"""Limits: letters of an expression, and levels of its tree."""
CONSTANTS = {"pi": np.pi, "e": np.e}
FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    **{name: (getattr(np, name), 1) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "sqrt", "sign")},
    **{name: (getattr(np, name), 1) for name in ("abs", "log", "log10", "floor", "ceil")},
    "asin": (np.arcsin, 1),
    "acos": (np.arccos, 1),
    "atan": (np.arctan, 1),
    "atan2": (np.arctan2, 2),
    "hypot": (np.hypot, 2),
    "min": (np.minimum, 2),
    "max": (np.maximum, 2),
    "clip": (np.clip, 3),
    "where": (np.where, 3),
}
"""Functions and their numbers of arguments."""
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: np.mod,
    ast.Pow: np.power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_Value = Callable[[Any], Any]


@dataclass(frozen=True)
class Expression:
    """Function of one variable from a formula, ``text``, multiplied by ``factor``, the SI value of its unit.

    ``variable`` is the name in the formula: ``t`` for time [s], ``s`` for a rate. Raises ValueError for an invalid
    formula or unknown names.

    Examples
    --------
    >>> from flexph.models.reading.expressions import Expression
    >>> float(Expression("2*t**2 + 1")(3.0))
    19.0
    """

    text: str
    variable: str = "t"
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.factor)):
            raise ValueError(f"factor must be finite, got {self.factor}")
        _compiled(self.text, self.variable)

    def __call__(self, at: Any) -> Any:
        """Value of the function at a number ``at``, or values at an array of numbers."""
        function = self.__dict__.get("_function")
        if function is None:
            function = self.__dict__["_function"] = _compiled(self.text, self.variable)
        value = function(at)
        return value if self.factor == 1.0 else self.factor * value

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling and copying, without the compiled function."""
        return {name: value for name, value in self.__dict__.items() if name != "_function"}


def _compiled(text: str, variable: str) -> _Value:
    """Function of one value from its text. Raises ValueError for an invalid text."""
    if len(text) > LONGEST:
        raise ValueError(f"an expression has at most {LONGEST} letters, got {len(text)}: use a table")
    powers = re.sub(r"\^", "**", text.strip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "1(2)", which is refused below
            body = ast.parse(powers, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        at = f", at letter {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise ValueError(
            f"got {text[:60]!r}, which is no expression{at}: write for example '2*pi*{variable}'"
        ) from None
    return _function(body, variable, 0)


def _function(node: ast.AST, variable: str, depth: int) -> _Value:
    if depth > DEEPEST:
        raise ValueError(f"an expression nested deeper than {DEEPEST} levels: use a table")

    def inner(child: ast.AST) -> _Value:
        return _function(child, variable, depth + 1)

    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _constant(_float(number))
        case ast.Name(id=name):
            return _named(name, variable)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _applied(_OPERATORS[type(op)], (inner(operand),))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _applied(_OPERATORS[type(op)], (inner(left), inner(right)))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _applied(_OPERATORS[type(op)], (inner(left), inner(right)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _applied(_called(name, len(args)), tuple(map(inner, args)))
    raise ValueError(
        f"{ast.unparse(node)[:60]!r} is not allowed in an expression: use numbers, {variable}, + - * / ** %, "
        "comparisons in where(condition, a, b), and functions such as sin"
    )


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        raise ValueError("a number in an expression is too large") from None


def _constant(number: float) -> _Value:
    return lambda at: number


def _named(name: str, variable: str) -> _Value:
    if name == variable:
        return lambda at: at
    if name not in CONSTANTS:
        known = (variable, *CONSTANTS, *FUNCTIONS)
        raise ValueError(f"no name {name!r} in an expression: {nearest(name, known)}")
    return _constant(CONSTANTS[name])


def _called(name: str, count: int) -> Callable[..., Any]:
    if name not in FUNCTIONS:
        raise ValueError(f"no function {name!r}: {nearest(name, FUNCTIONS)}")
    function, wanted = FUNCTIONS[name]
    if count != wanted:
        raise ValueError(f"{name} takes {wanted} argument{'s' * (wanted > 1)}, got {count}")
    return function


def _applied(function: Callable[..., Any], arguments: tuple[_Value, ...]) -> _Value:
    if len(arguments) == 1:
        (one,) = arguments
        return lambda at: function(one(at))
    if len(arguments) == 2:
        first, second = arguments
        return lambda at: function(first(at), second(at))
    return lambda at: function(*(argument(at) for argument in arguments))
