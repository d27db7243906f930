"""Pictures with matplotlib: functions that take axes or None and return the axes (extra ``plot``).

Imports: analysis, bodies, dirac, export, files, linear.eigenmodes, linear.responses, mechanisms, mechanisms.model,
meshes, numerics, results, sensors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
