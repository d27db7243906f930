"""Mesh files of other programs: by the readers of this package for Abaqus and Nastran, by meshio for all others.

Imports: files, meshes, meshes.abaqus, meshes.nastran.
"""

from .reading import Source, read, read_contents

__all__ = ["Source", "read", "read_contents"]
