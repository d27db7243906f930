"""Quantities of a mechanism at single states in NumPy: vectors, energies, gradients, mass and tangent stiffness.

All functions take and return flat arrays; bodies, joints and mechanisms do not appear here. Begin with the constant
data (:mod:`.arrays`) and the state (:mod:`.state`), then read the Jacobians (:mod:`.gradient`), the equations of
motion (:mod:`.continuous`) and their linearisation (:mod:`.stiffness.tangent`). Steps are taken by loops
(:mod:`flexph.integration.loops`).

Imports: discrete_gradients, kernels.contacts, kernels.rates, laws, numerics.
"""
