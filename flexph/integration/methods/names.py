"""Names of methods on the command line, in summaries and in files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...numerics import checks as check
from ...numerics.arguments import checked
from .exact import Decaying, Exact, Exact4, ExactGauss
from .general import BDF, IDA, DiracDissipative, DiscreteGradient, Gauss, Library, Radau
from .method import Method

NAMES: dict[str, Callable[..., Method]] = {
    "exact": Exact,
    "exact4": Exact4,
    "exact_gauss": ExactGauss,
    "decaying": Decaying,
    "gonzalez": partial(DiscreteGradient, "gonzalez"),
    "mean_value": partial(DiscreteGradient, "mean_value"),
    "invariants": partial(DiscreteGradient, "invariants"),
    "pair": partial(DiscreteGradient, "pair"),
    "dirac": DiracDissipative,
    "midpoint": partial(Gauss, 2),
    "gauss4": partial(Gauss, 4),
    "gauss6": partial(Gauss, 6),
    "radau": Radau,
    "bdf": BDF,
    "ida": IDA,
}
"""Constructors of methods by name."""


@checked
def by_name(name: str, **options: Any) -> Any:
    """Method with the given name and options of its class; options that are None keep their defaults.

    For a method of a library, ``tolerance`` (rtol or (rtol, atol)) sets the options ``rtol`` and ``atol``. For names
    from a command line or a file: in a program, call the class of the method.

    Raises ValueError for unknown names, TypeError for options that the method does not have.

    Examples
    --------
    >>> by_name("midpoint", tolerance=1e-4)
    Gauss(2, tolerance=0.0001)
    """
    make = NAMES[check.choice("method", name, NAMES)]
    given = {option: value for option, value in options.items() if value is not None}
    if isinstance(make, type) and issubclass(make, Library) and "tolerance" in given:
        tolerance = given.pop("tolerance")
        given["rtol"], given["atol"] = tolerance if isinstance(tolerance, tuple) else (tolerance, None)
    return make(**given)


def call_of(name: str) -> str:
    """Python code that constructs the method with the given name and default options, such as ``Gauss(4)``."""
    return repr(NAMES[name]())
