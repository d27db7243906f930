"""Mechanisms that drawings of assemblies propose, as commented model files.

:mod:`.touching` finds contacts of parts, :mod:`.freedoms` the joints that they make, :mod:`.text` writes.
Imports: files, meshes, meshes.drawings, numerics.
"""
