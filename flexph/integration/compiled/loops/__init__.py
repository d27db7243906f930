"""The formulas of the kernels in loops, one file for each of theirs.

Imports: integration.compiled.contact, integration.compiled.decay, integration.compiled.memory,
integration.compiled.nodal, integration.compiled.terms, joints.rows, kernels, mechanisms.model, numerics,
numerics.compiled, numerics.compiled.algebra, systems.
"""
