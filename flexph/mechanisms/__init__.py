"""Mechanisms: the class :class:`flexph.Mechanism` with its methods, and the connection of bodies.

Imports: bodies, contacts, display, drawing, joints, joints.rows, kernels, kernels.contacts, kernels.surfaces, laws,
linear.responses, mechanisms.equations, mechanisms.model, mechanisms.poses, mechanisms.statics, mechanisms.steady,
numerics, systems, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
