"""Display of the files that this package writes: the command ``flexph view``.

Runs, scenes, series, reduced bodies, meshes, drawings and model files become scenes, studies a page. Imports: bodies,
console, export, files, joints.rows, linear.eigenmodes, mechanisms, meshes, meshes.drawings, meshes.files, models,
numerics, plot, report, scenes, studies, studies.execution, view.
"""
