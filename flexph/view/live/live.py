"""Options of the live display of a run, which opens a page or a window."""

from __future__ import annotations

import gzip
import logging
import os
import sys
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any, Literal

from ...display.bars import in_notebook
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...results.unfinished import IntegrationInterrupted
from ..html import PAGE, WHOLE, library_script
from .dials import Dial
from .frames import refuse_invisible
from .server import Page
from .session import Session
from .sliders import Bounds, Sliders

log = logging.getLogger("flexph")
HEIGHT = 620
"""Height of the page in a notebook [pixels]."""


@checked
@dataclass(frozen=True, kw_only=True)
class Live:
    """Live display of a run, for ``integrate(..., live=Live(...))``; ``live=True`` is ``live=Live()``.

    A page of the browser shows the run and can pause it, take single steps, end it (the result then has the finished
    steps), and move sliders for external inputs. A slider acts from the next block of steps on; ``sliders`` of the
    result are the inputs that repeat the run. As long as no slider is moved, the run is equal bit by bit to one without
    a display. In a notebook the page is shown below the cell.

    The page is served on the loopback interface of this computer, under an address with a random token; it loads
    nothing from other hosts. If no browser can be opened, the address is logged.

    Parameters
    ----------
    sliders : dict, optional
        Smallest and largest value of each slider by name of an external port, or, for a port with several entries, by
        names such as ``"force[1]"``. The initial value is the constant value of the port in ``inputs``, or zero. [unit
        of the port]
    dials : dict, optional
        Parameters of the mechanism, each a :class:`Dial`, by the names of their sliders.
    pace : float, optional
        Largest simulated time per second of the clock: 1 for real time; None for no limit.
    paused : bool
        True to pause the run before its first step.
    rate : float
        Largest number of pictures per second.
    field : str, optional
        Name of the coloured field; by default the first one.
    title : str
        Title of the page.
    display : {"page", "window"}
        Page of the browser, or window by pyvista (extra ``view``).
    port : int
        Port of the address of the page; 0 for a free one.
    browser : bool or callable
        True to open the browser, False to log the address only, or a function that is called with the address.
    wait : float
        Longest time [s] to wait for the page before the first step.

    Raises
    ------
    ValueError
        For a rate or pace that is not positive; at the start of a run for sliders of unknown ports, bounds that do not
        ascend or do not include the initial value, inputs that are not constant, and a port that cannot be used.

    Examples
    --------
    >>> from flexph.view import Live
    >>> Live(sliders={"motor": (-2.0, 2.0)}, pace=1.0)  # doctest: +ELLIPSIS
    Live(sliders={'motor': (-2.0, 2.0)}, dials={}, pace=1.0, ...
    """

    sliders: Mapping[str, Bounds] = field(default_factory=dict)
    dials: Mapping[str, Dial] = field(default_factory=dict)
    pace: float | None = None
    paused: bool = False
    rate: float = 30.0
    field: str | None = None
    title: str = "run"
    display: Literal["page", "window"] = "page"
    port: int = 0
    browser: bool | Callable[[str], Any] = True
    wait: float = 5.0

    def __post_init__(self) -> None:
        check.positive("rate", self.rate, "1/s")
        if self.pace is not None:
            check.positive("pace", self.pace)
        check.not_negative("wait", self.wait, "s")
        check.count("port", self.port, least=0)

    @contextmanager
    def opened(self, mechanism: Any, span: tuple[float, float], inputs: Mapping[str, Any]) -> Iterator[Session]:
        """Context manager with the display of a run of a mechanism over a time span.

        The display is closed when the context ends.
        """
        refuse_invisible(mechanism)
        sliders = self.sliders_of(mechanism, inputs, span[0])
        with self._displayed(sliders, span) as session:
            try:
                yield session
            except (KeyboardInterrupt, IntegrationInterrupted):
                session.close("ended", "interrupted")
                raise
            except BaseException as error:
                session.close("failed", str(error))
                raise
            session.close("ended" if session.ended else "finished")

    def sliders_of(self, mechanism: Any, inputs: Mapping[str, Any], time: float) -> Sliders:
        """Sliders of a run that begins at a time [s] with given inputs; raises ValueError for invalid sliders."""
        slices, dim = mechanism.network.input_slices, mechanism.layout.dim
        return Sliders(self.sliders, slices, dim, inputs, time, self.dials)

    @contextmanager
    def _displayed(self, sliders: Sliders, span: tuple[float, float]) -> Iterator[Session]:
        options: dict[str, Any] = {"rate": self.rate, "pace": self.pace, "paused": self.paused}
        if self.display == "window":
            from .window import LiveWindow

            window = LiveWindow(title=self.title, field=self.field, last=span[1])
            session = Session(sliders, **options, ready=window.open, look=window.look)
            try:
                yield session
            finally:
                window.close()
            return
        session = Session(sliders, **options, ready=lambda _: self._show(page))
        settings = {"title": self.title, "field": self.field, "first": span[0], "last": span[1]}
        page = Page(session, port=self.port, page=self._page, settings=settings)
        try:
            yield session
        finally:
            page.close()

    def _page(self) -> str:
        view = f'<div class="flexph-view" data-live style="{WHOLE}"><p>The run is about to begin.</p></div>'
        script = gzip.decompress(files("flexph.view").joinpath("browser", "live.js.gz").read_bytes()).decode("utf-8")
        element = f'<script type="text/plain" id="flexph-live">{script}</script>'
        return PAGE.format(title=escape(self.title), view=f"{view}\n{element}\n{library_script()}")

    def _show(self, page: Page) -> None:
        """Show the page in a notebook or a browser and wait until it is loaded, or log its address."""
        if callable(self.browser):
            self.browser(page.address)
        elif self.browser and in_notebook():
            from IPython.display import IFrame, display

            display(IFrame(page.address, "100%", HEIGHT))
        elif not (self.browser and _can_open() and webbrowser.open(page.address)):
            log.warning("the run can be followed at %s", page.address)
            return
        page.wait(self.wait)


def _can_open() -> bool:
    """True if a browser with a window can be opened. A text-mode browser would stop the run."""
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
