"""Pictures and films: what they show, that nothing but what moves changes, and their files."""

import sys
from itertools import pairwise

import numpy as np
import pytest

import fem
from flexph import GROUND, connect, drive, hinge, integrate
from flexph.scenes import motion_scene
from flexph.view import write_film, write_picture
from flexph.view.packing import with_triangles
from flexph.view.pictures import Film
from flexph.view.raster import Window, axes_towards, fitted

image = pytest.importorskip("PIL.Image")
SMALL = {"size": (320, 180)}


@pytest.fixture(scope="module")
def solution():
    steel = fem.Material(young=2.1e11, density=7850.0)
    arm = fem.beam(1.0, steel, fem.Section(width=0.04, height=0.04), elements=3)
    turned = connect({"arm": arm}, [hinge("arm.root", GROUND), drive("arm.root", angle=lambda t: 12.0 * t)])
    start = turned.consistent_state(turned.assemble({"arm": (0.0, 0.0, 0.0)}))
    return integrate(turned, start, np.linspace(0.0, 0.4, 41), progress=False)


def frames_of(path):
    film = image.open(path)
    pictures = []
    for number in range(film.n_frames):
        film.seek(number)
        pictures.append(np.array(film.convert("RGBA")).astype(float))
    return film, pictures


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_a_film_plays_the_run_and_its_words_rest(suffix, solution, tmp_path):
    path = solution.animate(tmp_path / f"arm{suffix}", frames=9, account=True, **SMALL)
    film, pictures = frames_of(path)
    assert len(pictures) == 9 and film.info["loop"] == 0 and film.info["duration"] == 50
    assert pictures[0].shape[:2] == (180, 320)
    assert all(np.abs(b - a)[18:110].max() > 100.0 for a, b in pairwise(pictures))
    bar = np.s_[120:130, 240:]  # its colours and numbers are the same at all times; WebP loses some of the 255 greys
    assert max(np.abs(own[bar] - pictures[0][bar]).mean() for own in pictures) <= (0.0 if suffix == ".gif" else 4.0)
    assert film.format == suffix[1:].upper()


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_a_transparent_film_has_no_paper(suffix, solution, tmp_path):
    path = write_film(tmp_path / f"arm{suffix}", solution, frames=3, background="transparent", title="", **SMALL)
    covers = [own[..., 3] for own in frames_of(path)[1]]
    assert all(0.005 < (own > 128).mean() < 0.3 for own in covers)
    assert all((own[0] == 0).all() and (own[:, 0] == 0).all() for own in covers)


def test_mp4_needs_its_extra_or_plays(solution, tmp_path, monkeypatch):
    try:
        import imageio_ffmpeg  # noqa: F401
    except ModuleNotFoundError:
        pass
    else:
        assert write_film(tmp_path / "a.mp4", solution, frames=5, **SMALL).stat().st_size > 1000
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "flexph\[view\]"'):
        write_film(tmp_path / "b.mp4", solution, frames=5, **SMALL)
    assert not (tmp_path / "b.mp4").exists()


def test_without_pillow_the_extra_is_named(solution, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "flexph\[plot\]"'):
        solution.animate(tmp_path / "a.gif")


def test_what_cannot_be_drawn_is_said(solution, tmp_path):
    for path, options, message in (
        ("a.avi", {}, r"path of a film must end in \.gif, \.webp, \.mp4, got"),
        ("a.mp4", {"size": (321, 180)}, "even width"),
        ("a.mp4", {"background": "transparent"}, "not transparent"),
        ("a.gif", {"background": "red"}, "background"),
        ("a.gif", {"rate": 0.0}, "rate must be positive"),
        ("a.gif", {"size": (8, 180)}, "width of size must be"),
        ("a.gif", {"towards": (0.0, 0.0, 0.0)}, "towards must be a direction, got zeros"),
        ("a.gif", {"field": "strain"}, "no field 'strain'"),
    ):
        with pytest.raises(ValueError, match=message):
            solution.animate(tmp_path / path, **options)
    pose = solution.mechanism.assemble({"arm": (0.0, 0.0, 0.0)})
    with pytest.raises(ValueError, match="account must be False without an energy account"):
        write_picture(tmp_path / "a.png", (solution.mechanism, pose), account=True)
    with pytest.raises(ValueError, match=r"at must be a time of the run, from 0 s to 0\.4 s"):
        write_picture(tmp_path / "a.png", solution, at=1.0)


def test_backgrounds_and_forces_are_seen(solution, tmp_path):
    def picture(**options):
        return np.array(image.open(write_picture(tmp_path / "a.png", solution, at=0.2, **SMALL, **options)))

    light, dark = picture(), picture(background="dark")
    assert light[2, 2, 0] > 240 and dark[2, 2, 0] < 40 and (light[..., 3] == 255).all()
    assert np.abs(picture(forces=True).astype(float) - light).max() > 80.0
    above = picture(towards=(1.0, 0.0, 0.2))
    assert np.abs(above.astype(float) - light).mean() > 0.5


def test_all_of_the_motion_is_in_the_picture(solution):
    """To the edges of the window, in one of both directions."""
    scene = with_triangles(motion_scene(solution))
    window = Window(20.0, 30.0, 620.0, 330.0)
    for towards in ((0.1, -0.34, 1.0), (0.0, 1.0, 0.0), (1.0, 1.0, 1.0)):
        camera = fitted(scene, axes_towards(towards, (0.0, 1.0, 0.0)), window)
        dots = np.concatenate([camera.places(part.points.reshape(-1, 3))[:, :2] for part in scene.parts])
        low, high = dots.min(axis=0), dots.max(axis=0)
        free = np.array([low[0] - 20.0, 620.0 - high[0], low[1] - 30.0, 330.0 - high[1]])
        assert free.min() > -3.0  # pixels, since only some of the times were looked at
        assert min(free[:2].max(), free[2:].max()) < 3.0


def test_colours_of_a_picture_are_those_of_its_field(solution):
    """The largest stress is in the picture by its colour of the map, lit by at most what is seen of the light."""
    scene = with_triangles(motion_scene(solution))
    film = Film(scene, "axial stress", size=(320, 180), background="light", account=False, title="")
    shares = film.stage.mesh.shares(20)
    arm = next(part for part in scene.parts if part.name == "arm")
    values = arm.point_fields["axial stress"].values[20]
    low, high = -np.abs(scene.limits("axial stress")).max(), np.abs(scene.limits("axial stress")).max()
    own = shares[shares >= 0.0]
    assert own.min() == pytest.approx((values.min() - low) / (high - low), abs=1e-6)  # single precision of scenes
    assert own.max() == pytest.approx((values.max() - low) / (high - low), abs=1e-6)
    assert (shares < 0.0).any()  # joints have no stress
