"""Presentation of results for readers and for other packages: labels of runs, and companion data in their files.

Imports: display, numerics.
"""
