"""Laws of springs and dampers: elastic laws, hysteresis, forces of extension, rate and time, resistive relations.

Laws go to ``law=`` of :func:`flexph.spring_damper`, :func:`flexph.torsion_spring`, :func:`flexph.joints.bushing` and
:func:`flexph.contacts.stop`, relations to ``damping=`` of force elements and ``friction=`` of joints.

Imports: numerics, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
