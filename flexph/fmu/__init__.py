"""Mechanisms as functional mock-up units (FMI 2 and 3, co-simulation) for other simulators (extra ``fmi``).

Imports: console, control, files, integration, integration.methods, mechanisms, mechanisms.model, models, models.schema,
numerics, sensors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
