"""Derivatives of runs by the discrete adjoint or tangents of their steps.

The residual and end of a step are computed once with recorded numbers, which list their operations. The list, a
program, is evaluated at other steps, forward or backward, for their derivatives.

Imports: integration.loops.decay, integration.loops.friction, integration.loops.gauss, integration.loops.mechanics,
integration.loops.memory, integration.loops.nodal, integration.loops.steps, integration.loops.terms, kernels,
kernels.convergence, numerics, numerics.algebra, numerics.loops.
"""
