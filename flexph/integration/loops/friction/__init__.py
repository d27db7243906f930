"""Dry friction of joints under their own force in loops: the set-valued law, and how it and a step change each other.

Imports: integration.loops.mechanics, integration.loops.memory, integration.loops.nodal, integration.loops.terms,
mechanisms.model, numerics, numerics.algebra, numerics.loops.
"""
