"""Results of runs: :class:`Solution` of mechanisms, :class:`Trajectory` of general systems, their ledger and files.

A run returns a result; its methods evaluate saved states, and ``save`` and ``load`` write and read HDF5 files.

Imports: bodies, discrete_gradients, display, drawing, files, joints.rows, kernels, kernels.contacts, laws, mechanisms,
mechanisms.model, mechanisms.poses, numerics, sensors, systems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
