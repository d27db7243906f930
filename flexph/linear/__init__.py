"""Linear systems: elimination of constraints, projection, second-order form, standard forms.

Imports: numerics, numerics.factors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
