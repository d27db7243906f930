"""Functions by import path, for files that are trusted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

from ...units.words import nearest


def trusted_function(path: str, folder: Path, *, trust: bool) -> Callable[..., Any]:
    """The function ``package.module:name``, of an installed module or one in a folder, that of the model file.

    Raises ValueError where the file is not trusted, or there is none.
    """
    if not trust:
        raise ValueError(f"{path!r} is code that would be run: give --trust if you trust this file")
    module, _, name = path.partition(":")
    try:
        found = _imported(module, folder.resolve())
    except Exception as error:  # the code of others
        raise ValueError(f"{module!r} cannot be imported: {type(error).__name__}: {error}") from error
    beside = (folder / f"{module.replace('.', '/')}.py").resolve()
    if beside.is_file() and Path(getattr(found, "__file__", None) or "").resolve() != beside:
        raise ValueError(f"{module!r} is {found!r}, and not {beside.name!r} beside the model file: rename this")
    function = getattr(found, name, None)
    if not callable(function):
        known = [word for word, value in vars(found).items() if callable(value) and not word.startswith("_")]
        raise ValueError(f"{module!r} has no function {name!r}: {nearest(name, known)}")
    return function


def _imported(module: str, folder: Path) -> Any:
    """A module that is installed, or else in a folder."""
    sys.path.append(str(folder))
    try:
        invalidate_caches()
        return import_module(module)
    finally:
        sys.path.remove(str(folder))
