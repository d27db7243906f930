"""What the command line prints: tables, JSON, words on the way; output survives consoles and disks that cannot take it.

Imports: analysis, numerics.loops, plot, switching.
"""
