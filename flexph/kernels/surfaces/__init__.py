"""Distances of contacts that have no simple formula, with gradients, second derivatives and discrete gradients.

They are those of points from boxes and meshes (:mod:`.closest`, data in :mod:`.surfaces` and :mod:`.meshes`), of points
from faces with moving corners (:mod:`.faces`), and between segments (:mod:`.segments`).

Imports: numerics, numerics.loops.
"""
