"""What the command line prints: tables, and output that survives consoles and disks that cannot take it.

Imports: no other room.
"""
