"""The formulas of the kernels in loops, one file for each of theirs.

Imports: integration.loops.contact, integration.loops.decay, integration.loops.memory, integration.loops.nodal,
integration.loops.solids, integration.loops.terms, integration.loops.wide, mechanisms.model, numerics,
numerics.algebra, numerics.loops, systems.
"""
