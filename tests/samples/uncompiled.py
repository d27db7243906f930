"""Loops from their sources: what tests call of functions that only other loops call, and whole runs by Python."""

import importlib
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader


class Sources:
    """Finder of the sources of flexph, beside which its extension modules lie."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("flexph.") or path is None:
            return None
        finders = (FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES)) for folder in path)
        return next(filter(None, (finder.find_spec(name) for finder in finders)), None)


def uncompiled(name):
    """A module of flexph from its source, with all loops that it takes functions from; others keep what is loaded."""
    loaded = {key: module for key, module in sys.modules.items() if key.startswith("flexph.")}
    for key, module in loaded.items():
        if not (getattr(module, "__file__", None) or "").endswith(".py"):
            del sys.modules[key]
    sys.meta_path.insert(0, Sources)
    try:
        return importlib.import_module(name)
    finally:
        sys.meta_path.remove(Sources)
        for key in [key for key in sys.modules if key.startswith("flexph.")]:
            if sys.modules[key] is not loaded.get(key):
                _replace(key, loaded.get(key))


def _replace(key, module):
    """Put a module back in its place, also in its package, or take away what was none before."""
    del sys.modules[key]
    package, _, own = key.rpartition(".")
    delattr(sys.modules[package], own) if package in sys.modules else None
    if module is not None:
        sys.modules[key] = module
        setattr(sys.modules[package], own, module)
