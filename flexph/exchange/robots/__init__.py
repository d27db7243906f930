"""Robots from URDF files as bodies and joints.

Imports: bodies, contacts, files, joints, joints.forces, joints.rows, joints.transmissions, laws, mechanisms.model,
numerics, sensors.
"""
