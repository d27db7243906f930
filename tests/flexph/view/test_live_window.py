"""Runs with a window of pyvista, drawn off screen: its orders, and that the run stays as it is."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, integrate, torque
from flexph.view import Live
from flexph.view.live.window import LiveWindow

pyvista = pytest.importorskip("pyvista")
TIMES = np.linspace(0.0, 2.0, 2001)


@pytest.fixture
def pendulum(monkeypatch):
    monkeypatch.setattr(pyvista, "OFF_SCREEN", True)
    joints = [hinge("rod.root", GROUND), torque("rod.root", name="motor")]
    made = connect({"rod": rigid.bar(1.0, 2.0)}, joints, gravity=(0.0, -9.81))
    return made, made.consistent_state(made.assemble({"rod": (0.0, 0.0, 0.0)}))


def test_a_window_shows_the_run_and_takes_its_orders(pendulum, monkeypatch):
    pictures, shown = [], []
    look = LiveWindow.look

    def looked(window, session):
        window._free_at = 0.0
        look(window, session)
        if session.snapshot.steps > 200 and len(pictures) < 2 and window.stage is not None:
            pictures.append(window.stage.plotter.screenshot(return_img=True).astype(float))
            shown.append(window.stage.plotter.actors["caption"].GetText(2))
            widget = window.stage.plotter.widgets.slider_widgets[0]
            widget.GetRepresentation().SetValue(1.5)
            widget.InvokeEvent("EndInteractionEvent")
            if len(pictures) == 2:
                session.order("end")

    monkeypatch.setattr(LiveWindow, "look", looked)
    live = Live(display="window", pace=2.0, rate=10.0, sliders={"motor": (-2.0, 2.0)})
    run = integrate(*pendulum, TIMES, live=live)
    assert run.times[-1] < 2.0
    assert run.sliders["motor"].values.tolist() == [[0.0], [1.5]]
    assert pictures[0].std() > 3.0 and np.abs(pictures[1] - pictures[0]).max() > 50.0
    assert shown[0].startswith("running, t = ") and "stored" in shown[0]


def test_a_closed_window_leaves_the_run_alone(pendulum, monkeypatch):
    opened = LiveWindow.open

    def closed(window, session):
        opened(window, session)
        window.close()

    monkeypatch.setattr(LiveWindow, "open", closed)
    run = integrate(*pendulum, TIMES, live=Live(display="window"))
    assert np.array_equal(run.states, integrate(*pendulum, TIMES).states)
