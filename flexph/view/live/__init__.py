"""Display of a run while it runs: a page in a browser or a window, which can hold, step, end and steer it.

A session follows the run. Between two blocks of steps it takes a snapshot of the state, waits while the run is held,
and sets the inputs that sliders have moved. ``frames`` draws snapshots, ``server`` and ``window`` show them.

Imports: display, numerics, results, scenes, systems, units, view.
"""
