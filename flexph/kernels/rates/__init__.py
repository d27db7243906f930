"""Elements that act on rates of products of world vectors: slips and bearings with friction, curves, and flows.

A slip is a sum of terms w Π_by Π̇ of products, or w θ̇ of an angle (:mod:`.slips`). A point may slide along a curve of a
body (:mod:`.curves` for its shape, :mod:`.on_curves` for the point). Mass may flow along a rod (:mod:`.flows`).

Imports: laws, numerics.
"""
