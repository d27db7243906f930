"""Conversion of linear systems and robots from and to other packages and files.

Imports: bodies, files, integration, integration.methods, linear, linear.responses, mechanisms, mechanisms.model,
numerics, numerics.factors, results, sensors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
