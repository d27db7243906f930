"""Laws of springs: elastic laws, laws with hysteresis, and forces of extension, rate and time.

They go to ``law=`` of :func:`flexph.spring_damper`, :func:`flexph.torsion_spring` and :func:`flexph.joints.bushing`.

Imports: numerics, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
