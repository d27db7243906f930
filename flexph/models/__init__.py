"""Model files: a mechanism, its runs and its studies as YAML, checked with errors that name the line and the remedy.

:mod:`.reading` parses YAML with line numbers, and formulas; :mod:`.schema` defines the entries; the package
``assemblies`` proposes a model file for a drawing.

Imports: bodies, changes, console, contacts, control, exchange, export, files, gradients, gradients.runs, integration,
integration.methods, integration.schemes, joints.rows, kernels, laws, mechanisms, mechanisms.model, models.assemblies,
models.reading, models.schema, numerics, results, robots, sensors, systems, units, view.live.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
