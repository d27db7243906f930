"""Viewers of scenes: pages for browsers, pictures and films (extra ``plot``), windows by pyvista (extra ``view``).

``browser`` holds the scripts of the pages; ``npm ci && npm run build`` there bundles them with three.js into
``viewer.js.gz``, which is what pages take.

Imports: bodies.stresses, display, files, numerics, results, scenes, view.raster.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
