"""Studies: a function or a case evaluated at many samples of its parameters, and optimisation, fits, sensitivities.

A study consists of ``samples`` (parameter values), their ``execution`` on many processors, and a ``dataset`` of all
records. Optimisation, fits and sensitivities request runs one by one (``evaluations``): each run is recorded, none is
repeated.

Imports: console, files, flexph, gradients, models, models.schema, numerics, plot, report, studies.eigenvalues,
studies.execution, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
