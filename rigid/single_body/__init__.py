"""Systems of one body: free or pivoted, with constraints and ports.

Imports: flexph, flexph.discretisation, flexph.numerics, rigid.bodies, rigid.rotations, rigid.system.
"""
