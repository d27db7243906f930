"""Changes within a run: joints that lock and are released, parts that break, at a time or when a condition is met.

Imports: bodies, bodies.breaking, joints.rows, laws, mechanisms, mechanisms.poses, numerics, sensors, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
