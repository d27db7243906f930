"""Linear and nonlinear port-Hamiltonian descriptor systems.

Their inputs, resistive relations, discrete gradients, port matrices, and changes of coordinates. Imports: display,
numerics, numerics.factors, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
