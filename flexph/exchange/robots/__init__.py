"""Robots from URDF, SDF and MJCF files as bodies and joints.

Imports: contacts, files, joints.rows, numerics, robots.links.
"""
