"""Systems of one body: free or pivoted, with constraints and ports.

Imports: flexph, flexph.numerics, rigid.bodies, rigid.rotations, rigid.system.
"""
