"""Contacts as arrays: gaps and their discrete gradients, laws, and forces on nodes and bodies.

Imports: numerics.
"""
