"""Results of runs: solutions, trajectories, the energy ledger, and their files.

Imports: bodies, discrete_gradients, display, drawing, files, joints.rows, kernels, kernels.contacts, laws, mechanisms,
mechanisms.model, mechanisms.poses, numerics, sensors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
