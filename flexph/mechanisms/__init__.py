"""Mechanisms: the class with its verbs, and how bodies are connected.

Imports: bodies, joints.rows, mechanisms.model, mechanisms.poses, mechanisms.statics, numerics, systems.
"""
