"""Geometry of pictures as immutable values, without a graphics library: surfaces of rigid shapes, swept sections.

Imports: display, numerics.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
