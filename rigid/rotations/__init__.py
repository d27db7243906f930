"""Coordinates of rotations: angles, quaternions, entries of the matrix.

Imports: flexph.numerics, rigid.system.
"""
