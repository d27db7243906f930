"""Stresses of bodies at points of their cells: one definition of the largest for pictures, reports, files and sensors.

Imports: bodies, numerics.
"""
