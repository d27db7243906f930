"""Execution of samples on many processors, robust against killed processes: each sample is recorded once.

A sample is a :class:`Task` for a worker (``tasks``), which stores the record if it can access the folder
(``records``); a :class:`Schedule` (``runs``) submits tasks to an :class:`Engine` (``engines``), and submits them
again if a worker died.

Imports: display, files, flexph, numerics.
"""
