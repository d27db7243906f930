"""Structure-preserving model order reduction of linear port-Hamiltonian systems.

Imports: linear, linear.eigenmodes, linear.responses, numerics, numerics.factors, systems.
"""
