"""Convergence of iterations: tolerances, and the rules by which they end and steps are chosen.

Imports: numerics.loops.
"""
