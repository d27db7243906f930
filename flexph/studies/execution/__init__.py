"""Execution of samples on many processors, robust to killed processes: each sample is recorded once.

A sample is a :class:`Task` for a worker (``tasks``), which stores the record if it can access the folder (``records``,
``folders``); a :class:`Schedule` submits tasks to an :class:`Engine`, and resubmits them if a worker died.

Imports: display, files, flexph, numerics.
"""
