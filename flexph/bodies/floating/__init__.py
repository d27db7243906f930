"""One floating body in the coordinates of [flex]: its finite blocks and their port-Hamiltonian system.

Imports: bodies, numerics, systems.
"""
