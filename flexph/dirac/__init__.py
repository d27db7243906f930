"""Dirac structures: representations, composition and modulation ([survey] sec. 2, 3, 6, 7).

Imports: laws, numerics, numerics.factors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
