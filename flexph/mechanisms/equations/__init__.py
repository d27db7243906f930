"""Equations of motion of a mechanism as a nonlinear port-Hamiltonian descriptor system.

Dense matrices with their derivatives for small mechanisms, sparse ones for large.
Imports: contacts, joints.rows, kernels, mechanisms.model, numerics, systems.
"""
