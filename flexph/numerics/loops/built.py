"""How the loops of this installation were built, and what is imported of them.

A module of loops (``x.py`` with ``x.pxd`` beside it) is imported from the extension module that the installation made
of it (build_loops.py), else from its source, which runs uncompiled to the same numbers. In a checkout installed by
``pip install -e .`` Python would import an old extension module in place of a source that was edited since: that is
refused. With ``FLEXPH_LOOPS=none`` in the environment of a process all of them are imported from their sources.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("built.json")
ROOT = Path(__file__).parents[3]
UNCOMPILED = "loops run uncompiled, about 1000 times slower"


@cache
def record() -> dict[str, Any]:
    """Record of the installation: modules, hashes of their sources, compiler and flags, or why nothing is compiled."""
    try:
        values: dict[str, Any] = json.loads(RECORD.read_bytes())
    except FileNotFoundError:
        return {"modules": [], "sources": {}, "checkout": True, "reason": "flexph is not installed from this folder"}
    return values


def are_compiled() -> bool:
    """True if loops are imported from extension modules."""
    return bool(record()["modules"]) and not _sources_wanted()


def check_sources() -> None:
    """Refuse extension modules in a checkout whose sources have changed since; ImportError names one of these."""
    if not record()["checkout"]:
        return
    for name, (time, digest) in record()["sources"].items():
        if not _is_as_compiled(f"{ROOT}/{name}", time, digest):
            raise ImportError(f"{name} has changed since loops were compiled; compile them again by: {command()}")


def command() -> str:
    """Command that compiles the loops of this installation."""
    if record()["checkout"]:
        return f'"{sys.executable}" -m pip install -e "{ROOT}"'
    return f'"{sys.executable}" -m pip install --force-reinstall --no-deps --no-cache-dir "{_origin()}"'


@cache
def warn_if_uncompiled() -> None:
    """Say once a process that loops run uncompiled, why, and what compiles them, unless the environment asks for it."""
    if not are_compiled() and not _sources_wanted():
        import logging

        logging.getLogger("flexph").warning("flexph: %s", described())


def reason() -> str:
    """Why loops run uncompiled."""
    return "FLEXPH_LOOPS=none" if _sources_wanted() else record().get("reason", "")


def described() -> str:
    """Sentence on the build, for ``flexph --version --verbose``."""
    built = record()
    try:
        check_sources()
    except ImportError as error:
        return str(error)
    if not are_compiled():
        return f"{UNCOMPILED} ({reason()}); with a C++ compiler they are compiled by: {command()}"
    checked = ", with tests of indices" if built["checked"] else ""
    by = f"Cython {built['cython']} and {built['compiler']}, {' '.join(built['flags'])}"
    return f"{len(built['modules'])} modules of loops compiled by {by}{checked}"


def find_loops() -> None:
    """Have modules of loops found by :class:`Loops` from here on."""
    sys.meta_path.insert(0, Loops())


class Loops(MetaPathFinder):
    """Finder of loops: it tests their sources before the first one, and takes these where they are wanted."""

    def __init__(self) -> None:
        self.modules = frozenset(record()["modules"])

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Find the source of a module of loops if the environment wants it; otherwise leave it to Python."""
        if fullname not in self.modules:
            return None
        if _sources_wanted():
            return spec_from_file_location(fullname, ROOT.joinpath(*fullname.split(".")).with_suffix(".py"))
        _check_once()
        return None


def _origin() -> str:
    """Where pip took the package from: a folder, an address, or an index, which knows its name."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        written = distribution("flexph").read_text("direct_url.json")
    except PackageNotFoundError:
        return "flexph"
    return json.loads(written)["url"] if written else "flexph"


def _sources_wanted() -> bool:
    return os.environ.get("FLEXPH_LOOPS") == "none"


def _is_as_compiled(path: str, time: int, digest: str) -> bool:
    """True for a file that has not been written since [ns], or to the same content, as by git."""
    try:
        if os.stat(path).st_mtime_ns == time:
            return True
        from hashlib import sha256

        return sha256(Path(path).read_bytes()).hexdigest() == digest
    except FileNotFoundError:
        return False


@cache
def _check_once() -> None:
    check_sources()
