"""Force elements between ports: springs, dampers, bushings, loads.

Imports: joints.rows, laws, numerics, units.
"""
