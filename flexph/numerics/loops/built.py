"""How the loops of this installation were built, and what is imported of them.

A module of loops (``x.py`` with ``x.pxd`` beside it) is imported from the extension module that the installation made
of all those of its folder (build_loops.py), else from its source, which runs uncompiled to the same numbers. A source
in a checkout installed by ``pip install -e .`` that was edited since is refused. Some extension modules are there a
second time, for processors with AVX2, and have the same bits.

``FLEXPH_LOOPS`` in the environment of a process: ``none`` imports all loops from their sources, ``baseline`` those that
run on every processor.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

RECORD = Path(__file__).with_name("built.json")
ROOT = Path(__file__).parents[3]
AVX2 = "avx2"
"""Where the second extension modules are, in the folder of the first."""
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
def takes_avx2() -> bool:
    """True if extension modules for processors with AVX2 are imported where there are some."""
    from .processor import runs_avx2

    return os.environ.get("FLEXPH_LOOPS") != "baseline" and runs_avx2()


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
    wide = f", -m{AVX2}" if built.get(AVX2) and takes_avx2() else ""
    return f"{len(built['modules'])} modules of loops compiled by {by}{wide}{checked}"


def find_loops() -> None:
    """Have modules of loops found by :class:`Loops` from here on; ValueError for another word in FLEXPH_LOOPS."""
    wanted = os.environ.get("FLEXPH_LOOPS", "")
    if wanted not in ("", "none", "baseline", "required", "checked"):  # the last two are for the build alone
        raise ValueError(f"FLEXPH_LOOPS={wanted}: none or baseline, or nothing")
    sys.meta_path.insert(0, Loops())


class Loops(MetaPathFinder):
    """Finder of loops: it tests their sources before the first one, and takes these where they are wanted."""

    def __init__(self) -> None:
        self.modules, self.wide = frozenset(record()["modules"]), frozenset(record().get(AVX2, ()))

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Find a module of loops in the extension module of its folder, or its source if the environment wants it."""
        folder, _, stem = fullname.rpartition(".")
        if stem == "compiled" and f"{folder}.{AVX2}.{stem}" in self.wide and takes_avx2():
            return PathFinder.find_spec(fullname, [f"{place}/{AVX2}" for place in path or ()])
        if fullname not in self.modules:
            return None
        if _sources_wanted():
            return spec_from_file_location(fullname, ROOT.joinpath(*fullname.split(".")).with_suffix(".py"))
        _check_once()
        return spec_from_loader(fullname, Part())


class Part(Loader):
    """Loader of a module of loops: names ``x__f`` of the extension module of a folder are those of ``x``."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave that to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Take the functions that Python may call."""
        folder, _, stem = module.__name__.rpartition(".")
        compiled = import_module(f"{folder}.compiled")
        module.__file__ = compiled.__file__
        for name, value in vars(compiled).items():
            if name.startswith(f"{stem}__"):
                setattr(module, name.removeprefix(f"{stem}__"), value)


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
