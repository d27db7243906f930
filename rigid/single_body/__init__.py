"""Multibody systems of one body: free or pivoted, with constraints and ports.

Imports: flexph.laws, flexph.numerics, flexph.systems, rigid.bodies, rigid.rotations, rigid.system.
"""
