"""Robots from URDF files as bodies and joints.

Imports: bodies, contacts, files, joints, joints.forces, joints.rows, joints.transmissions, mechanisms.model, numerics,
sensors, systems.
"""
