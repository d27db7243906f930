"""Electric circuits: elements between nodes, and their port-Hamiltonian descriptor systems ([survey] example 2.1).

Imports: consistency, dirac, laws, numerics, switching, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
