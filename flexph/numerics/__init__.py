"""Linear algebra, rotations and compiling that know nothing of mechanics.

Arrays and their checks, ranks and subspaces, finite differences, compiled functions, one memo of what is made once.
Imports: no other room.
"""
