"""Analysis of port-Hamiltonian differential-algebraic systems: index, Casimirs, passivity, stability ([survey] sec. 4);
Floquet multipliers of periodic motions of mechanisms.

Imports: consistency, dirac, interconnection, mechanisms, mechanisms.model, mechanisms.poses, mechanisms.statics,
numerics, numerics.factors, switching, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
