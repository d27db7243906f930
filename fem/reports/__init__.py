"""Reports on drawings and on refinements, as values and as text.

Imports: fem.materials, fem.plates, fem.refinement, fem.solids, flexph.meshes, flexph.meshes.drawings,
flexph.meshes.files, flexph.numerics.
"""
