"""A chromium that draws by software, and pictures of its pages."""

from io import BytesIO

import numpy as np
import pytest

ARGUMENTS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]


def pixels(page, selector=".fx-stage canvas"):
    """The picture of an element, once it has been drawn."""
    image = pytest.importorskip("PIL.Image")
    page.wait_for_timeout(500)
    return np.array(image.open(BytesIO(page.locator(selector).first.screenshot())).convert("RGB")).astype(float)
