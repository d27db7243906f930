"""Newton corrections towards equilibrium, by the residual and the Jacobian of compiled steps.

Imports: bodies, integration.loops, integration.loops.mechanics, integration.loops.memory, integration.loops.nodal,
kernels, mechanisms.model, numerics, numerics.loops.
"""
