"""The compiled twin of the kernels (extra ``fast``): loops on flat arrays and a block-arrow solve of linear cost.

All arrays of a mechanism lie in one memory, and kernels look its fields up where they name them, ``m.at_v[b, i]``: with
views fetched at the head of each function compiling takes a third longer. Kernels are compiled once into the entry that
reaches them, see :mod:`flexph.numerics.compiled.linking`.

Imports: bodies, contacts, contacts.compiled, control, integration.compiled.flexible, integration.compiled.friction,
integration.compiled.gauss, integration.compiled.loops, integration.compiled.memory, integration.compiled.rigid_steps,
integration.compiled.steps, integration.compiled.strikes, integration.methods, joints.rows, kernels, kernels.contacts,
kernels.jacobians, mechanisms, mechanisms.model, numerics, numerics.compiled, numerics.compiled.algebra, systems.
"""
