"""Residual, Jacobian and ledger of a step in loops: motion of bodies, forces, springs, slips, curves and constraints.

Imports: integration.loops.contact, integration.loops.decay, integration.loops.memory, integration.loops.nodal,
integration.loops.solids, integration.loops.terms, kernels, laws, mechanisms.model, numerics, numerics.algebra,
numerics.loops.
"""
