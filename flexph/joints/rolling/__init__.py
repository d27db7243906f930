"""Rolling joints: wheels, discs and knife edges on a plane.

Imports: joints.rows, laws, numerics, units.
"""
