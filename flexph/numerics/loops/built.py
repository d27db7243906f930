"""State of the compiled loops of this installation, and their import.

A module of loops (``x.py`` with an ``x.pxd`` in the same folder) is imported from the extension module of its folder
(build_loops.py), else from its source, which gives the same numbers uncompiled; there ``import cython`` gives
``uncompiled.py``, so that no Cython need be installed. In a checkout installed by ``pip install -e .``, a source edited
after the build is refused. Some extension modules have a second build for processors with AVX2, with bitwise equal
results.

The environment variable ``FLEXPH_LOOPS`` selects: ``none`` imports all loops from their sources, ``baseline`` the
builds for every processor.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

RECORD = Path(__file__).with_name("built.json")
ROOT = Path(__file__).parents[3]
AVX2 = "avx2"
"""Subfolder of the extension modules for AVX2."""
UNCOMPILED = "loops run uncompiled, about 1000 times slower"


@cache
def record() -> dict[str, Any]:
    """Record left by the build: modules of loops, hashes of sources, compiler, flags, or why there is no build."""
    try:
        values: dict[str, Any] = json.loads(RECORD.read_bytes())
    except FileNotFoundError:
        return {"modules": [], "sources": {}, "checkout": True, "reason": "flexph is not installed from this folder"}
    return values


def are_compiled() -> bool:
    """True if loops are imported from compiled extension modules, False if from their sources."""
    return bool(record()["modules"]) and not _sources_wanted()


def check_sources() -> None:
    """Raise ImportError if a source of the compiled loops has changed since the build, in a checkout."""
    if not record()["checkout"]:
        return
    for name, (time, digest) in record()["sources"].items():
        if not _is_as_compiled(f"{ROOT}/{name}", time, digest):
            raise ImportError(f"{name} has changed since loops were compiled; compile them again by: {command()}")


def command() -> str:
    """Shell command that compiles the loops of this installation."""
    if record()["checkout"]:
        return f'"{sys.executable}" -m pip install -e "{ROOT}"'
    return f'"{sys.executable}" -m pip install --force-reinstall --no-deps --no-cache-dir "{_origin()}"'


@cache
def takes_avx2() -> bool:
    """True if the builds for AVX2 of extension modules are imported, where they exist.

    The processor must support AVX2, and FLEXPH_LOOPS must not be ``baseline``.
    """
    from .processor import runs_avx2

    return os.environ.get("FLEXPH_LOOPS") != "baseline" and runs_avx2()


@cache
def warn_if_uncompiled() -> None:
    """Log a warning, once in a process, if loops run uncompiled though the environment does not ask for it."""
    if not are_compiled() and not _sources_wanted():
        import logging

        logging.getLogger("flexph").warning("flexph: %s", described())


def reason() -> str:
    """Reason why loops run uncompiled."""
    return "FLEXPH_LOOPS=none" if _sources_wanted() else record().get("reason", "")


def described() -> str:
    """Sentence on how the loops are built, for ``flexph --version --verbose``."""
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
    """Make Python import modules of loops by :class:`Loops`; raises ValueError for an unknown value of FLEXPH_LOOPS."""
    wanted = os.environ.get("FLEXPH_LOOPS", "")
    if wanted not in ("", "none", "baseline", "required", "checked"):  # the last two affect the build only
        raise ValueError(f"FLEXPH_LOOPS must be none, baseline or not set, got {wanted!r}")
    sys.meta_path.insert(0, Loops())


class Loops(MetaPathFinder):
    """Finder that imports modules of loops from extension modules or sources, after a check of the sources."""

    def __init__(self) -> None:
        self.modules, self.wide = frozenset(record()["modules"]), frozenset(record().get(AVX2, ()))

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Specification of a module of loops, or of a folder's extension module for AVX2; None for other modules."""
        folder, _, stem = fullname.rpartition(".")
        if stem == "compiled" and f"{folder}.{AVX2}.{stem}" in self.wide and takes_avx2():
            return PathFinder.find_spec(fullname, [f"{place}/{AVX2}" for place in path or ()])
        if self.modules and fullname not in self.modules:
            return None
        if not are_compiled():
            return _source(fullname)
        _check_once()
        return spec_from_loader(fullname, Part())


class Part(Loader):
    """Loader of a module of loops from the extension module of its folder, where function f of module x is ``x__f``."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None, so that Python creates the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Copy the functions that Python may call into the module."""
        folder, _, stem = module.__name__.rpartition(".")
        compiled = import_module(f"{folder}.compiled")
        module.__file__ = compiled.__file__
        for name, value in vars(compiled).items():
            if name.startswith(f"{stem}__"):
                setattr(module, name.removeprefix(f"{stem}__"), value)


class Source(SourceFileLoader):
    """Loader of a module of loops from its source, uncompiled."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the source of the module, with ``uncompiled.py`` in place of the module cython."""
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)


def _import(name: str, *arguments: Any) -> ModuleType:
    """Module by name, as ``__import__``, but ``uncompiled.py`` for the name cython."""
    from . import uncompiled

    return uncompiled if name == "cython" else __import__(name, *arguments)


def _source(fullname: str) -> ModuleSpec | None:
    """Module specification of a module of loops by its source; None for modules without declarations of C types."""
    path = ROOT.joinpath(*fullname.split(".")).with_suffix(".py")
    declared = fullname.startswith("flexph.") and path.with_suffix(".pxd").exists()
    return spec_from_file_location(fullname, path, loader=Source(fullname, str(path))) if declared else None


def _origin() -> str:
    """Place from which pip installed this package: a folder, a URL, or its name on an index."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        written = distribution("flexph").read_text("direct_url.json")
    except PackageNotFoundError:
        return "flexph"
    return json.loads(written)["url"] if written else "flexph"


def _sources_wanted() -> bool:
    return os.environ.get("FLEXPH_LOOPS") == "none"


def _is_as_compiled(path: str, time: int, digest: str) -> bool:
    """True if a file is as it was compiled, by its time of change [ns] or by the hash of its content."""
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
