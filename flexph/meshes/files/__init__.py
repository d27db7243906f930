"""Reading of mesh files: Abaqus, Nastran, Ansys and universal files by own readers, others by meshio.

Imports: files, meshes, meshes.abaqus, meshes.ansys, meshes.drawings, meshes.nastran, meshes.universal.
"""

from .reading import Source, read, read_contents

__all__ = ["Source", "read", "read_contents"]
