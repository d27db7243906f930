"""Reading of mesh files: Abaqus and Nastran by readers of this package, all other formats by meshio.

Imports: files, meshes, meshes.abaqus, meshes.drawings, meshes.nastran.
"""

from .reading import Source, read, read_contents

__all__ = ["Source", "read", "read_contents"]
