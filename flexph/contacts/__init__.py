"""Contacts and stops: shapes, gaps and contact laws.

Imports: bodies, drawing, joints.rows, kernels, kernels.contacts, kernels.convergence, kernels.surfaces, laws,
meshes.files, numerics, systems, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
