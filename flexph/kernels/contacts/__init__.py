"""Contacts as arrays: gaps and their gradients, potentials and forces at a state, friction, bodies on both sides.

Imports: kernels.surfaces, numerics.
"""
