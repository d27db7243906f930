"""Port-Hamiltonian descriptor systems: linear ones (:class:`LinearPHDAE`) and nonlinear ones (:class:`PHDAE`).

Also their inputs as functions of time, matrices of ports, discrete gradients, and transformations of their states.

Imports: display, laws, numerics, numerics.factors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
