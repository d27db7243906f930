"""Files that appear under their names whole and on the disk, or not at all, whatever happens while they are written.

Of files that others wrote: what they declare is judged before it is read, for they may be damaged or hostile.

Imports: display.
"""
