"""Every picture that a test of a case draws is looked at."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

LEAST = 10_000
"""Size of a picture [bytes]: one of axes without anything in them is below."""
DRAWN = 500
"""Pixels that curves or words colour: without axes an empty picture has none."""


@pytest.fixture(scope="module", autouse=True)
def pictures(request):
    """Drawn ones have something in them. Fast tests draw what stands in the axes; slow ones lay out and draw them, too.

    Ticks and their numbers take three quarters of the time of a picture, a layout draws it twice or three times.
    """
    fast = request.config.getoption("markexpr") == "not slow"

    def save(figure, path, **options):
        if fast and Path(path).suffix == ".png":
            figure.set_layout_engine("none")
            figure.set_dpi(options.get("dpi", figure.dpi))
            for axes in figure.axes:
                axes.set_axis_off()
            canvas = FigureCanvasAgg(figure)
            canvas.print_png(path, metadata=options.get("metadata"))
            pixels = np.asarray(canvas.buffer_rgba())
            assert np.count_nonzero((pixels != pixels[0, 0]).any(axis=2)) > DRAWN, path
        else:
            draw(figure, path, **options)
            assert Path(path).stat().st_size > LEAST, path

    draw = Figure.savefig
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", save)
        yield
