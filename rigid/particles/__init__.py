"""Point masses in Cartesian coordinates with rods, springs and dashpots between them ([rigid] sec. 3).

Imports: flexph.laws, flexph.numerics, flexph.systems, rigid.system.
"""
