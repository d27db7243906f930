"""Steps of Gauss collocation in loops: a memory for each stage, and systems with complex step lengths.

``m`` is the memory of the run, ``g`` the :class:`Scheme` with the addresses of the memories of the stages, ``s`` the
memory of one stage, which has the values at a node of the step. ``given`` are the prescribed quantities at the nodes
(memory.structures.AtNodes).

Imports: integration.loops.mechanics, integration.loops.memory, integration.loops.steps, integration.loops.terms,
kernels, kernels.convergence, numerics, numerics.algebra, numerics.loops.
"""
