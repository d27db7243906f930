"""Derivatives of runs by the discrete adjoint or tangents of their steps, whose residuals are recorded operations.

Imports: integration.loops.decay, integration.loops.friction, integration.loops.gauss, integration.loops.mechanics,
integration.loops.memory, integration.loops.nodal, integration.loops.steps, integration.loops.terms, kernels,
kernels.convergence, numerics, numerics.algebra, numerics.loops.
"""
