"""Derivatives of functionals of runs by the discrete adjoint of their steps.

Imports: gradients.runs, integration, integration.loops.memory, integration.loops.recorded, integration.methods,
numerics, numerics.loops, results, sensors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
"""The public names of this room: each is loaded when it is asked for."""
