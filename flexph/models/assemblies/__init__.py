"""Mechanisms proposed for the assemblies of drawings, written as commented model files.

:mod:`.touching` finds the contacts of parts, :mod:`.freedoms` deduces joints from them, and :mod:`.text` writes the
model file.

Imports: files, meshes, meshes.drawings, numerics.
"""
