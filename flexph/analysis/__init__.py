"""Analysis of port-Hamiltonian differential-algebraic systems: index, Casimirs, passivity, stability ([survey] sec. 4);
Floquet multipliers of periodic motions of mechanisms.

Imports: consistency, contacts, dirac, integration.blocks, integration.loops.memory, integration.methods,
integration.schemes, interconnection, joints.rows, kernels, mechanisms, mechanisms.model, mechanisms.poses,
mechanisms.statics, numerics, numerics.factors, results, switching, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
