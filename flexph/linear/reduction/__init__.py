"""Model order reduction of linear port-Hamiltonian systems with their structure kept.

Imports: linear, linear.eigenmodes, linear.responses, numerics, numerics.factors, systems.
"""
