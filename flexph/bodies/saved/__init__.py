"""Files of reduced bodies, for machines without their mesh and the packages that made it.

Imports: bodies, files, numerics.
"""
