"""Follower loads per area of deformed faces.

Imports: numerics.
"""
