"""flexph: flexible multibody dynamics in port-Hamiltonian form."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"
