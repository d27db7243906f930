"""Parameter studies of a function or an installed case; optimisation, fits and sensitivities.

A case is a published system by name, which `flexph run` computes (:class:`flexph.case.Case`). A study evaluates the
function at ``samples`` (parameter values), with ``execution`` on many processors, and collects all records in a
``dataset``. Optimisation, fits and sensitivities request runs as needed (``evaluations``): each run is recorded and
never repeated.

Imports: console, files, flexph, gradients, models, models.schema, numerics, plot, report, studies.eigenvalues,
studies.execution, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
