"""Robots from URDF files as bodies and joints.

Imports: contacts, files, joints.rows, numerics, robots.links.
"""
