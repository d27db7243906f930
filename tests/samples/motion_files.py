"""What files of motions hold of a body."""

from flexph.files.vtkhdf import read_vtkhdf


def body_in(folder, name, file="motion.vtkhdf"):
    """The times, and the grid of a body by its name."""
    times, grids, _ = read_vtkhdf(folder / file)
    (grid,) = (grid for grid in grids if (grid.group, grid.name) == ("bodies", name))
    return times, grid
