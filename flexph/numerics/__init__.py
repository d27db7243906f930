"""Linear algebra, rotations and other tools that do not depend on mechanics.

Arrays and argument checks, ranks and subspaces, finite differences, views for loops, caches of immutable values.
Imports: no other room.
"""
