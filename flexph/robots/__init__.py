"""Robots: arms from Denavit-Hartenberg tables; kinematics, inverse dynamics and joint control; motions.

Imports: bodies, control, joints.rows, kernels, mechanisms, mechanisms.model, numerics, sensors, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
