"""Sensors of states, runs and sampled controllers: angles, distances, positions, rates, forces, contacts, stresses.

Imports: bodies, contacts, joints.rows, kernels, kernels.contacts, kernels.rates, laws, mechanisms.model,
mechanisms.poses, numerics, numerics.loops, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
