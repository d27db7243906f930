"""Rods and cables with broken elements.

Imports: bodies.
"""
