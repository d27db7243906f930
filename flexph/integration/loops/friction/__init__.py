"""Dry friction of joints under joint forces in loops: the set-valued law, and its coupling with a step.

Imports: integration.loops.mechanics, integration.loops.memory, integration.loops.nodal, integration.loops.terms,
kernels, mechanisms.model, numerics, numerics.algebra, numerics.loops.
"""
