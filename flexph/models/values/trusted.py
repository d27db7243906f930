"""Functions by import path, for trusted files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

from ...units.words import nearest


def trusted_function(path: str, folder: Path, *, trust: bool) -> Callable[..., Any]:
    """Function ``package.module:name`` of an installed module, or of one in the model file's folder.

    Raises ValueError if the file is not trusted or there is no such function.
    """
    if not trust:
        raise ValueError(f"{path!r} is code that would be run: give --trust only if you trust this file")
    module, _, name = path.partition(":")
    try:
        imported = _imported(module, folder.resolve())
    except Exception as error:  # user code may raise anything
        raise ValueError(f"{module!r} cannot be imported: {type(error).__name__}: {error}") from error
    local = (folder / f"{module.replace('.', '/')}.py").resolve()
    if local.is_file() and Path(getattr(imported, "__file__", None) or "").resolve() != local:
        raise ValueError(
            f"{module!r} is {imported!r}, and not {local.name!r} in the folder of the model file: rename the latter"
        )
    function = getattr(imported, name, None)
    if not callable(function):
        known = [word for word, value in vars(imported).items() if callable(value) and not word.startswith("_")]
        raise ValueError(f"{module!r} has no function {name!r}: {nearest(name, known)}")
    return function


def _imported(module: str, folder: Path) -> Any:
    """Module that is installed, or else lies in a folder, imported."""
    sys.path.append(str(folder))
    try:
        invalidate_caches()
        return import_module(module)
    finally:
        sys.path.remove(str(folder))
