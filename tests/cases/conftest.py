"""Every picture that a test of a case draws is looked at."""

from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

LEAST = 10_000
"""Size of a picture [bytes]: one of axes without anything in them is below."""


@pytest.fixture(scope="module", autouse=True)
def pictures(request):
    """Drawn ones have something in them; fast tests do not lay them out, which draws them twice or three times."""
    fast = request.config.getoption("markexpr") == "not slow"

    def save(figure, path, **options):
        if fast and Path(path).suffix == ".png":
            figure.set_layout_engine("none")
            figure.set_dpi(options.get("dpi", figure.dpi))
            FigureCanvasAgg(figure).print_png(path, metadata=options.get("metadata"))
        else:
            draw(figure, path, **options)
        assert Path(path).stat().st_size > LEAST, path

    draw = Figure.savefig
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", save)
        yield
