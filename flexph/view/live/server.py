"""HTTP server for the page of a run, on the loopback interface, with a token in the address.

``/`` is the page, ``/scene`` the drawing of the mechanism; ``/frame`` waits for a state newer than the one shown (long
polling); ``/order`` receives commands as JSON. Requests without the token, or with a host name other than that of the
address, are refused.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .session import Session, Snapshot

HOST = "127.0.0.1"
LARGEST = 4096
"""Largest size of a command [bytes]."""
CONNECTIONS = 24
"""Largest number of connections at once."""
POLL, IDLE = 5.0, 20.0
"""Longest wait [s] of a request for a frame, and of a connection for its next request."""
SHARE = 0.12
"""Largest share of the processor time of a run and its page that frames take."""
BREAK = 0.004
"""Least time [s] between two measurements of the processor time."""
LAST, SEEN = 0.5, 2.0
"""Longest wait [s] for pages to show the end of a run; and time [s] since the last request of a page after which there
is no wait."""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""Content security policy: the page loads nothing, and speaks to this server only."""


class Page:
    """Page of a run, served until it is closed.

    Parameters
    ----------
    session : Session
        Session of the run.
    port : int
        Port of the address; 0 for a free one.
    page : callable
        Function without arguments that returns the HTML of the page.
    settings : dict
        Constants of the run that the page shows: its ``title``, ``field``, first and last time.
    """

    def __init__(self, session: Session, *, port: int, page: Callable[[], str], settings: dict[str, Any]) -> None:
        self.session, self.page, self.settings = session, page, settings
        self.token = secrets.token_urlsafe(24)
        self.asked, self.shown = 0.0, -1
        self._frame: tuple[tuple[int, bool], bytes] = ((-1, False), b"")
        self._lock, self._free_at = threading.Lock(), 0.0
        try:
            self._server = _Server((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            raise ValueError(
                f"port {port} of {HOST} cannot be used ({error}): give another port, or 0 for a free one"
            ) from None
        self._server.page = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Port of the server."""
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """Address of the page, with its token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def wait(self, seconds: float) -> None:
        """Wait, for at most the given time, until a page has requested a frame."""
        with self.session.news:
            self.session.news.wait_for(lambda: self.asked > 0.0, seconds)

    def close(self) -> None:
        """Wait, for a limited time, until open pages have received the last frame, then stop the server."""
        last, until = self.session.snapshot.number, time.monotonic() + LAST
        while self.shown < last and time.monotonic() < until and time.monotonic() - self.asked < SEEN:
            time.sleep(0.01)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def note_request(self) -> None:
        """Record the time of a request, which shows that a page is open."""
        with self.session.news:
            self.asked = time.monotonic()
            self.session.news.notify_all()

    def scene(self) -> bytes:
        """Drawing of the mechanism as a stream of bytes."""
        now = self.session.later_than(-1, POLL)
        if now is None or now.drawn is None:
            return b""
        sliders = [{"name": s.name, "low": s.low, "high": s.high} for s in self.session.sliders.all]
        head = {"sliders": sliders, "first": self.settings["first"], "last": self.settings["last"]}
        title, field = self.settings["title"], self.settings["field"]
        return now.drawn.stream(now.x, now.time, title=title, field=field, **head)

    def frame(self, now: Snapshot, scalable: bool) -> bytes:
        """Bytes of the frame for the snapshot ``now``: length of the head, head as JSON, and numbers of the drawing.

        ``scalable``: True to include deformations. Waits first if earlier frames have taken too much processor time.
        """
        assert now.drawn is not None
        with self._lock:
            if self._frame[0] == (now.number, scalable):
                return self._frame[1]
            until = time.monotonic() + POLL
            while (left := self._free_at - time.process_time()) > 0.0 and time.monotonic() < until:
                if self.session.waits or self.session.snapshot.number > now.number:
                    break
                time.sleep(max(left, BREAK))
            head = {
                **{name: getattr(now, name) for name in ("number", "time", "account", "steps", "state", "message")},
                "scene": now.drawn.number,
                "values": self.session.sliders.values,
                "pace": self.session.pace,
                "scalable": scalable,
                "clock": time.monotonic(),
            }
            words = json.dumps(head, separators=(",", ":")).encode()
            words += b" " * (-len(words) % 4)
            raw = len(words).to_bytes(4, "little") + words + now.drawn.frame(now.x, now.time, scalable=scalable)
            self._frame = (now.number, scalable), raw
            return raw

    def note_spent(self, seconds: float) -> None:
        """Record the processor time [s] that a frame has taken.

        The next frame waits until the whole program has used so much processor time since this frame began that
        ``seconds`` are at most the share SHARE of it.
        """
        with self._lock:
            self._free_at = time.process_time() + seconds * (1.0 / SHARE - 1.0)


class _Server(ThreadingHTTPServer):
    daemon_threads, block_on_close = True, False
    allow_reuse_address = os.name == "posix"  # elsewhere two programs could share the port
    page: Page

    def __init__(self, *given: Any) -> None:
        self._places = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(*given)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return self._places.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of a page that was closed during a request."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version, server_version, sys_version = "HTTP/1.1", "flexph", ""
    wbufsize = -1  # head and body are one write
    disable_nagle_algorithm = True  # it delays the end of a long response by 40 ms
    timeout = IDLE
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Do nothing: requests are not logged."""

    def do_GET(self) -> None:
        if (given := self._accepted()) is None:
            return
        (path, query), page = given, self.server.page
        if path == "/":
            self._respond(200, page.page().encode(), "text/html; charset=utf-8")
        elif path == "/scene":
            self._respond(200, page.scene(), "application/octet-stream")
        elif path == "/frame":
            self._frame(query)
        else:
            self._respond(404, b"no such page")

    def _frame(self, query: dict[str, list[str]]) -> None:
        page, after, began = self.server.page, query.get("after", ["-1"])[0], time.thread_time()
        try:
            number = int(after)
        except ValueError:
            return self._respond(400, b"after must be the number of a frame")
        now = page.session.later_than(number, POLL)
        if now is None:
            return self._respond(204, b"")
        scalable = query.get("scalable", ["0"])[0] == "1"
        self._respond(200, page.frame(now, scalable), "application/octet-stream")
        page.shown = max(page.shown, now.number)
        page.note_spent(time.thread_time() - began)
        return None

    def do_POST(self) -> None:
        if (given := self._accepted()) is None:
            return
        length = self.headers.get("Content-Length", "")
        if not (length.isdecimal() and len(length) < 10 and int(length) <= LARGEST):
            self.close_connection = True
            return self._respond(413, f"an order has a length of at most {LARGEST} bytes".encode())
        body = self.rfile.read(int(length))
        if given[0] != "/order":
            return self._respond(404, b"no such page")
        try:
            order = json.loads(body)
            if not isinstance(order, dict) or set(order) - {"order", "name", "value"} or "order" not in order:
                raise ValueError("an order is an object with order, name and value")
            self.server.page.session.order(order.pop("order"), **order)
        except (ValueError, RecursionError) as error:
            return self._respond(400, str(error).encode())
        return self._respond(204, b"")

    def _accepted(self) -> tuple[str, dict[str, list[str]]] | None:
        """Path and query of a request; None, after an error response, for a wrong token or host."""
        page, parts = self.server.page, urlsplit(self.path)
        query = parse_qs(parts.query)
        token, hosts = query.get("token", [""])[0], {f"{name}:{page.port}" for name in (HOST, "localhost")}
        if hmac.compare_digest(token.encode(), page.token.encode()) and self.headers.get("Host") in hosts:
            page.note_request()
            return parts.path, query
        self.close_connection = True
        self._respond(403, b"the token of the address is missing or wrong")
        return None

    def _respond(self, code: int, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(code)
        if code != 204:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        for name, value in (
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", POLICY),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
        ):
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if code != 204 and self.command != "HEAD":
            self.wfile.write(body)
