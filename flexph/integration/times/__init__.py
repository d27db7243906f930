"""What sets or ends a step: step size control and events.

Imports: numerics, results.
"""
