"""Strains of nodal bodies in loops: stresses, forces and Jacobian by elements, and the coordinates of cables.

Imports: discrete_gradients, integration.loops.memory, integration.loops.terms, kernels, numerics, numerics.loops.
"""
