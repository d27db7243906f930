"""Files of numbers that others wrote, which may be damaged or hostile.

Imports: no other room.
"""
