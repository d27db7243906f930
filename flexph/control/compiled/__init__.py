"""What acts within steps, as compiled loops over steps ask it (extra ``fast``), and when it agrees with a mechanism.

Imports: numerics, numerics.compiled, sensors.
"""
