"""Linear and nonlinear port-Hamiltonian descriptor systems, their inputs, discrete gradients and port matrices.

Imports: display, laws, numerics, numerics.factors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
