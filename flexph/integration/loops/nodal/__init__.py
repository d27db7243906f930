"""Strains of nodal bodies, such as rods and cables, in loops: stresses, forces, Jacobian, coordinates of cables.

Imports: discrete_gradients, integration.loops.memory, integration.loops.terms, kernels, numerics, numerics.loops.
"""
