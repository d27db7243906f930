"""Interconnection of systems at their ports: couplings, substructures, causality, feed-through.

Imports: bodies.floating, discretisation, numerics, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
