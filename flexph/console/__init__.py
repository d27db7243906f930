"""Output of the command line: tables, JSON and progress, robust against limited consoles and full disks.

Imports: analysis, numerics.loops, plot, switching.
"""
