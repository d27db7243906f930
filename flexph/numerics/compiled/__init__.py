"""Functions that numba compiles (extra ``fast``): linked once, kept on disk, those of a user among them; needs numba.

Imports: files.
"""
