"""The nouns of the theory: linear and nonlinear port-Hamiltonian descriptor systems.

Their inputs, resistive relations, energies with discrete gradients, matrices of ports, and changes of coordinates.
Imports: numerics, numerics.factors.
"""
