"""Multibody systems of one body: free or pivoted, with constraints and ports.

Imports: flexph.numerics, flexph.systems, rigid.bodies, rigid.rotations, rigid.system.
"""
