"""Derivatives of runs by the discrete adjoint of their steps, whose residuals are taken over recorded numbers.

<<<<<<< HEAD
Imports: integration.loops.mechanics, integration.loops.memory, integration.loops.nodal, integration.loops.steps,
numerics, numerics.algebra, numerics.loops.
=======
Imports: discrete_gradients, integration.loops.mechanics, integration.loops.memory, integration.loops.nodal,
integration.loops.steps, kernels, kernels.rates, laws, numerics, numerics.algebra, numerics.loops.
>>>>>>> 95160a5a3d43f755651848371a576b69252695b6
"""
