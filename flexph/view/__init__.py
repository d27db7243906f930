"""Viewers of scenes: HTML by plotly; windows, pictures and films by pyvista (extra ``view``).

Imports: bodies.stresses, console, files, numerics, scenes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
