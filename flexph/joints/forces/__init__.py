"""Force elements between ports: springs, dampers, bushings, loads.

Imports: joints.rows, numerics, systems, units.
"""
