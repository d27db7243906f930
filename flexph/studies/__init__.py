"""Studies: a function or a case at many samples of its parameters, and what is asked of many runs.

A study is ``samples`` (values of parameters), their ``execution`` on many processors, and a ``dataset`` of all records.
Optimisation, fits and sensitivities ask for runs in the same way (``evaluations``): each is recorded, none is repeated.

Imports: console, files, flexph, linear, linear.eigenmodes, models, models.schema, numerics, plot, report,
studies.execution, systems, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
