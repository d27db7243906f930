"""Transmissions, which couple two joint coordinates in a constant ratio: gears, belts, racks.

Imports: joints.rows, numerics, units.
"""
