"""Rods and cables of which elements are broken.

Imports: bodies.
"""
