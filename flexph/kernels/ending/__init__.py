"""When iterations end: tolerances, what positions can tell, and the rules that loops and NumPy share.

Imports: numerics.loops.
"""
