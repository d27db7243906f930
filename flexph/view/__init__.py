"""Viewers of scenes: pages for browsers, pictures and films (extra ``plot``), windows by pyvista (extra ``view``).

The functions :func:`write_html`, :func:`write_picture`, :func:`write_film`, :func:`write_glb` and :func:`show` accept a
run or a scene; :class:`Live` shows a run while it is computed.

``browser`` contains the scripts of the pages; in that folder ``npm ci && npm run build`` bundles them with three.js
into ``viewer.js.gz``, which the pages include.

Imports: bodies, display, files, numerics, results, scenes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
