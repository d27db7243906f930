"""Loads of a density on deformed faces.

Imports: numerics.
"""
