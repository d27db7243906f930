"""Functions by import path, for files that are trusted."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..reading.problems import nearest


def trusted_function(path: str, *, trust: bool) -> Callable[..., Any]:
    """The function ``package.module:name``. Raises ValueError where the file is not trusted, or there is none."""
    if not trust:
        raise ValueError(f"{path!r} is code that would be run: give --trust if you trust this file")
    module, _, name = path.partition(":")
    try:
        found = import_module(module)
    except Exception as error:  # the code of others
        raise ValueError(f"{module!r} cannot be imported: {type(error).__name__}: {error}") from error
    function = getattr(found, name, None)
    if not callable(function):
        known = [word for word, value in vars(found).items() if callable(value) and not word.startswith("_")]
        raise ValueError(f"{module!r} has no function {name!r}: {nearest(name, known)}")
    return function
