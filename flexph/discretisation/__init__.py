"""One step of a general system in time.

Discrete gradient pairs, Gauss collocation, the iteration that solves them, and which states are differential.
Imports: numerics, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
