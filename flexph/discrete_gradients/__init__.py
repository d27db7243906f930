"""Discrete gradients of functions, and systems with a given discrete gradient ([dg] sec. 2.3, remarks 12 and 15).

Imports: discretisation, laws, numerics, systems.
"""

from ..discretisation.own_pair import with_pair
from ..systems.discrete_gradients import check_discrete_gradient
from .constraints import Constraints, holonomic, with_constraints
from .functions import coordinate_increments, gonzalez, jacobian, mean_value, midpoint

__all__ = [
    "Constraints",
    "check_discrete_gradient",
    "coordinate_increments",
    "gonzalez",
    "holonomic",
    "jacobian",
    "mean_value",
    "midpoint",
    "with_constraints",
    "with_pair",
]
