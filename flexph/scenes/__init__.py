"""Scenes: motions of mechanisms as surfaces with fields over time, for viewers and files.

Imports: bodies, drawing, files, joints.rows, kernels, linear.eigenmodes, mechanisms, mechanisms.model, numerics,
numerics.factors, results, sensors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
