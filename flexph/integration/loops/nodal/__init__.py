"""Strains of bodies of nodes in loops: stresses, forces and Jacobian by elements, and the coordinates of cables.

Imports: discrete_gradients, integration.loops.memory, integration.loops.terms, numerics, numerics.loops.
"""
