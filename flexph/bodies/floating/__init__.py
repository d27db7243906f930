"""Single floating body in the coordinates of [flex]: its matrices and its port-Hamiltonian system.

Imports: bodies, numerics, systems.
"""
