"""Live display of a run: a page in a browser or a window, which can pause, step, end and steer the run.

A session observes the run. Between two blocks of steps it takes a snapshot of the state, waits while the run is
paused, and sets inputs to the values of sliders. ``frames`` draws snapshots, ``server`` and ``window`` show them.

Imports: display, numerics, results, scenes, systems, units, view.
"""
