"""One thread for linear algebra, and no adaptive methods where the packages that they come from are missing.

On matrices as small as those of the tests more threads only wait for each other.
"""

import os
from importlib.util import find_spec

import pytest

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

PACKAGES = {"radau": "scipy_dae", "bdf": "scipy_dae", "ida": "sksundae"}
"""What methods of the extras dae and ida need."""


def pytest_collection_modifyitems(items):
    """Skip tests with a parameter that is a method whose package is missing."""
    missing = {method: package for method, package in PACKAGES.items() if find_spec(package) is None}
    for item in items:
        values = item.callspec.params.values() if isinstance(item, pytest.Function) and _has_parameters(item) else ()
        for method in (value for value in values if isinstance(value, str) and value in missing):
            item.add_marker(pytest.mark.skip(reason=f"method {method!r} needs {missing[method]}"))


def _has_parameters(item):
    return getattr(item, "callspec", None) is not None
