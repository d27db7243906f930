"""Time integration: mechanisms by the exact scheme, general systems by all methods.

Imports: no other room.
"""
