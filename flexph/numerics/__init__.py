"""Linear algebra and rotations that know nothing of mechanics.

Arrays and their checks, ranks and subspaces, finite differences, views for loops, one memo of what is made once.
Imports: no other room.
"""
