"""Changes within a run, at a time or a condition: joints that lock or are released, and parts that break.

Imports: bodies, bodies.breaking, joints.rows, laws, mechanisms, mechanisms.poses, numerics, sensors, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
