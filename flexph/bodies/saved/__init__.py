"""Reduced bodies in files of their own, for machines without their mesh and its packages.

Imports: bodies, files, numerics.
"""
