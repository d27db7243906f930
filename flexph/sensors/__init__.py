"""Sensors: quantities such as angles, rates, forces and stresses, to be read from states, runs and controllers.

A function such as :func:`joint_angle` makes a :class:`Quantity`. ``run.measured(quantity)``, a state of a run with
``state.measured(quantity)``, and :class:`flexph.control.Sampled` read it.

Imports: bodies, contacts, joints.rows, kernels, kernels.contacts, kernels.rates, laws, mechanisms.model,
mechanisms.poses, numerics, numerics.loops, units.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
