"""Charts of reports: their data, and the bundle that draws them."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

import flexph.report
from flexph.plot.panels import Curve, Panel
from flexph.report.page import chart, charts_script, packed
from flexph.report.reports import figure_words

BROWSER = Path(flexph.report.__file__).parent / "browser"


def panels_of(text):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)[1])


def numbers(told):
    return np.frombuffer(base64.b64decode(told["data"]), {"f4": "<f4", "f8": "<f8"}[told["kind"]])


def test_charts_hold_their_curves():
    x = np.linspace(0.0, 1.0, 11)
    curves = (Curve(x, 2e6 * x, "a </script> b"), Curve(x[::-1], x, "back", "points", "gray"))
    text = chart([Panel(curves, "stress", "Pa"), Panel(curves[:1], "x", "m", height=2.0)], "c")
    first, second = panels_of(text)
    assert text.count("</script>") == 1 and first["label"] == "stress [MPa]" and second["height"] > first["height"]
    np.testing.assert_allclose(numbers(first["curves"][0]["y"]), 2.0 * x, rtol=1e-6)  # single precision
    back = first["curves"][1]
    assert (back["style"], back["color"]) == ("points", "gray")
    np.testing.assert_allclose(numbers(back["x"]), x, rtol=1e-6)  # ascending, as the axis needs it
    np.testing.assert_allclose(numbers(back["y"]), 1e-6 * x[::-1], rtol=1e-6)


def test_times_that_single_precision_cannot_tell_apart_are_doubles():
    assert packed(1e6 + 1e-3 * np.arange(5.0))["kind"] == "f8" and packed(np.arange(5.0))["kind"] == "f4"


def test_the_bundle_is_that_of_its_sources():
    """``npm ci && npm run build`` was run after the last change, and the licence of uPlot is there."""
    digest = hashlib.sha256()
    for path in sorted(path for path in BROWSER.iterdir() if path.suffix in (".js", ".css")):
        digest.update(path.read_bytes())
    digest.update((BROWSER / "package-lock.json").read_bytes())
    bundle = gzip.decompress((BROWSER / "charts.js.gz").read_bytes()).decode("utf-8")
    assert f"Sources: {digest.hexdigest()}" in bundle and bundle in charts_script()
    assert "Leon Sorokin" in (BROWSER / "LICENSE-uplot.txt").read_text(encoding="utf-8")
    assert "</script" not in bundle


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("omega_min_rad_s", "omega min [rad/s]"),
        ("joint_drift_max_m", "joint drift max [m]"),
        ("runs a energy_residual_max_rel", "runs a energy residual max [relative]"),
        ("newton_iterations_mean", "newton iterations mean"),
        ("m", "m"),
    ],
)
def test_figures_are_words_with_units(name, words):
    assert figure_words(name) == words
