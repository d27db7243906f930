"""Residual, Jacobian and ledger of a step in loops: motion of bodies, forces, springs, slips, curves and constraints.

A vector leads from its minus node to its plus node, a product is the scalar product of two vectors, and constraints and
springs act on products. ``at`` is the state at the start of a step, ``end`` that at its end, ``x`` are the unknowns.

Imports: integration.loops.contact, integration.loops.decay, integration.loops.memory, integration.loops.nodal,
integration.loops.solids, integration.loops.terms, kernels, laws, mechanisms.model, numerics, numerics.algebra,
numerics.loops.
"""
