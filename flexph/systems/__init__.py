"""Linear and nonlinear port-Hamiltonian descriptor systems.

The room also has their inputs, discrete gradients, port matrices, and changes of coordinates.

Imports: display, laws, numerics, numerics.factors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
