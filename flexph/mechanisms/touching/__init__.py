"""Contacts at rest: springs and constraints that stand for them, and the search for those that are closed.

Imports: contacts, joints.rows, kernels, laws, mechanisms.changed, mechanisms.model, mechanisms.poses,
mechanisms.statics, numerics, systems.
"""
