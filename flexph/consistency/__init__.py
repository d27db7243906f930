"""Equations of a general system with their hidden conditions, and consistent initial states.

Solver libraries use these residuals and rates. Multipliers of index 2 follow from the rates of the constraints.

Imports: discretisation, numerics, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
