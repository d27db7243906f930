"""Single time steps of general systems.

Discrete gradient pairs, Gauss collocation, their nonlinear solver, and the split into differential and algebraic
states.

Imports: numerics, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
