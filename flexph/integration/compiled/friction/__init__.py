"""Dry friction of joints under their own force in loops: the set-valued law, and how it and a step change each other.

Imports: integration.compiled.loops, integration.compiled.memory, integration.compiled.nodal, mechanisms.model,
numerics, numerics.compiled, numerics.compiled.algebra.
"""
