"""flexph: flexible multibody dynamics in port-Hamiltonian form."""

import lazy_loader

from flexph.numerics.loops.built import find_loops

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
find_loops()  # before any of them is imported
__version__ = "0.1.0"
