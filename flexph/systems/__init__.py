"""The nouns of the theory: linear and nonlinear port-Hamiltonian descriptor systems.

Their inputs, resistive relations, energies with discrete gradients, matrices of ports, and changes of coordinates.
Imports: display, numerics, numerics.factors, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
