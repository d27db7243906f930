"""Pictures with matplotlib (extra ``plot``): functions that draw on given or new axes and return the axes.

Imports: analysis, bodies, dirac, export, files, linear.eigenmodes, linear.responses, mechanisms, mechanisms.model,
meshes, numerics, results, sensors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
