"""Linear systems to and from other packages and files.

Imports: linear, linear.responses, numerics, numerics.factors, systems.
"""

from .general import from_general
from .mat import read_mat, write_mat
from .matrix_market import read_matrix_market, write_matrix_market
from .pymor import from_pymor, to_pymor
from .state_spaces import from_control, from_scipy, to_control, to_scipy

__all__ = [
    "from_control",
    "from_general",
    "from_pymor",
    "from_scipy",
    "read_mat",
    "read_matrix_market",
    "to_control",
    "to_pymor",
    "to_scipy",
    "write_mat",
    "write_matrix_market",
]
