"""Results for people and for other packages: labels of runs, and what is kept beside them.

Imports: display, numerics.
"""
