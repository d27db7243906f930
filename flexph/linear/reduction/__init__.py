"""Structure-preserving model order reduction of linear port-Hamiltonian systems.

Imports: display, linear, linear.eigenmodes, linear.responses, numerics, numerics.factors, systems.
"""
