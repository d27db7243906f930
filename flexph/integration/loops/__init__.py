"""Compiled loops over steps of mechanisms on flat arrays, with a block-arrow solver of linear cost.

All arrays of a mechanism are in one memory, and loops access its fields by name, ``m.at_v[b][i]``. The modules of loops
are Cython in its pure Python mode: they are compiled when the package is built, with types from the ``.pxd`` file next
to each, and give the same numbers if they run uncompiled (see CONTRIBUTING.md).

The Jacobian of a step is an arrow of blocks: one for the inner flexible coordinates of each body, and a border for all
other unknowns. In the memory, ``at`` is the present state, at the start of a step; ``end`` is the state at the end of
the step, and ``x`` are the unknowns.

Arguments have common names: the memory ``m`` of a mechanism, the number of dimensions ``dim``, the length ``h`` of a
step [s], its prescribed quantities ``given`` (memory.structures.Given), a ``table`` of these for many steps, and the
kinds of the steps ``redundant``, ``decay``, ``contact`` and ``friction``, also together as ``kinds``
(memory.structures.Kinds).

Imports: bodies, contacts, contacts.loops, control, discrete_gradients, integration.loops.decay,
integration.loops.flexible, integration.loops.friction, integration.loops.gauss, integration.loops.memory,
integration.loops.rigid_steps, integration.loops.solids, integration.loops.steps, integration.loops.terms,
integration.loops.wide, joints.rows, kernels, kernels.contacts, kernels.convergence, kernels.surfaces, mechanisms.model,
numerics, numerics.loops, systems.
"""
