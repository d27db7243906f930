"""Floating-frame bodies: matrices, ports, elasticity, inertia, and their reduction.

A body is what fem and rigid make and mechanisms join; how it came to its matrices is not known here.
Imports: drawing, linear, linear.eigenmodes, numerics, numerics.factors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
