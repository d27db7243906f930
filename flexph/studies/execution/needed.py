"""Packages of the extra ``studies``."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

PACKAGES = ("xarray", "h5netcdf", "loky", "cloudpickle")
MISSING = 'studies need the extra studies: pip install "flexph[studies]"'


def needed_xarray() -> ModuleType:
    """Module xarray. Raises ModuleNotFoundError, naming the extra, if a package of studies is missing."""
    try:
        xarray, *_ = map(import_module, PACKAGES)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{MISSING} ({error.name} is missing)", name=error.name) from error
    return xarray
