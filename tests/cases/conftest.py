"""Pictures of the cases are drawn once, by test_cases.py: drawing takes longer than most runs."""

import pytest
from matplotlib.figure import Figure


@pytest.fixture(scope="module", autouse=True)
def drawing(request):
    """Leave pictures undrawn, except for modules that look at them."""
    with pytest.MonkeyPatch.context() as patch:
        if not getattr(request.module, "LOOKS_AT_PICTURES", False):
            patch.setattr(Figure, "savefig", lambda *_, **__: None)
        yield
