"""Derivatives of functionals of runs by the discrete adjoint of their steps.

Imports: gradients.runs, integration, integration.loops.memory, integration.loops.recorded, integration.methods,
numerics, numerics.loops, results, sensors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
"""Public names of the package; each is imported on first access."""
