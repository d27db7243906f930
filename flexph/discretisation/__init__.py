"""One step of a general system in time.

Discrete gradient pairs, Gauss collocation, the iteration that solves them, and which states are differential.
Imports: numerics, systems.
"""
