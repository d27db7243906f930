"""Convergence of iterations: tolerances, and the rules by which loops and NumPy end them and choose steps.

Imports: numerics.loops.
"""
