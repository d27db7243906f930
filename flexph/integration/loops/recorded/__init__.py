"""Derivatives of runs by the discrete adjoint of their steps, whose residuals are taken over recorded numbers.

Imports: discrete_gradients, integration.loops.mechanics, integration.loops.memory, integration.loops.nodal,
integration.loops.steps, kernels, kernels.contacts, kernels.rates, laws, numerics, numerics.algebra, numerics.loops.
"""
