"""Dirac structures, and port-Hamiltonian systems made of them ([survey] sec. 2, 3, 6, 7).

Write a :class:`DiracStructure` or compose one of elements; a :class:`PortHamiltonian` adds an energy and resistances,
and its ``phdae()`` is a :class:`flexph.PHDAE` for runs and analysis.

Imports: laws, numerics, numerics.factors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
