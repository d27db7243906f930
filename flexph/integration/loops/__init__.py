"""Steps of mechanisms in loops on flat arrays, with a block-arrow solve of linear cost.

All arrays of a mechanism lie in one memory, and loops look its fields up where they name them, ``m.at_v[b][i]``. Their
modules are Cython in its pure Python mode: compiled when the package is built, with the types of the ``.pxd`` beside
each, and the same numbers where they run uncompiled (see CONTRIBUTING.md).

Imports: bodies, contacts, contacts.loops, control, integration.loops.decay, integration.loops.flexible,
integration.loops.friction, integration.loops.gauss, integration.loops.memory, integration.loops.rigid_steps,
integration.loops.solids, integration.loops.steps, integration.loops.wide, joints.rows, kernels, kernels.contacts,
kernels.convergence, kernels.jacobians, mechanisms.model, numerics, numerics.loops, systems.
"""
