"""Formulas of the kernels in loops, with one file for each file of the kernels.

Imports: integration.loops.contact, integration.loops.decay, integration.loops.memory, integration.loops.nodal,
integration.loops.solids, integration.loops.terms, integration.loops.wide, mechanisms.model, numerics,
numerics.algebra, numerics.loops, systems.
"""
