"""Relations at the ports of a Dirac structure: storage and resistance.

Lagrangian subspaces and submanifolds, and resistive relations in implicit and characteristic form. Imports: laws,
numerics, numerics.factors, systems.
"""
