"""Loads: of a density on deformed faces, and inputs in world axes.

Imports: numerics.
"""
