"""Factorisations in loops: banded matrices, and small full ones.

Imports: integration.compiled.memory, numerics.
"""
