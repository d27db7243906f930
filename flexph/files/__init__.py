"""Files that appear under their names whole and on the disk, or not at all, whatever happens while they are written.

Imports: no other room.
"""
