"""Mechanisms that drawings of assemblies propose, as commented model files.

:mod:`.touching` finds contacts of parts, :mod:`.freedoms` the joints that follow from them, :mod:`.text` writes the
model file.
Imports: files, meshes, meshes.drawings, numerics.
"""
