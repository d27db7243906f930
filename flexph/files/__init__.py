"""Writing of files, complete or not at all, and checked reading of files from other sources.

A file appears under its name only when it is complete and stored on the disk, even if the process is interrupted. Files
from other sources may be damaged or hostile: the sizes that they declare are checked before memory is allocated.

Imports: numerics.
"""
