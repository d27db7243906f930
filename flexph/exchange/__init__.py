"""Conversion of linear systems and robots from and to other packages and files.

Imports: bodies, contacts, files, integration, integration.methods, joints.rows, kernels, kernels.stiffness, linear,
linear.responses, mechanisms, mechanisms.model, mechanisms.statics, numerics, numerics.factors, results, sensors,
systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
