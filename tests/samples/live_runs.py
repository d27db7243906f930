"""Runs with a page, and a client that speaks with the page's server as a browser does."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from queue import Queue
from urllib.parse import urlencode

import numpy as np

import fem
import rigid
from flexph import GROUND, connect, force, hinge, integrate, torque
from flexph.view import Live

LONG = np.linspace(0.0, 100.0, 100_001)


def pendulum(flexible=False):
    arm = fem.beam(1.0, fem.Material(young=70e9, density=2700.0), fem.Section(width=0.02, height=0.02), elements=2)
    joints = [hinge("rod.root", GROUND, name="pin"), torque("rod.root", name="motor"), force("rod.tip", name="wind")]
    made = connect({"rod": arm if flexible else rigid.bar(1.0, 2.0)}, joints, gravity=(0.0, -9.81))
    return made, made.consistent_state(made.assemble({"rod": (0.0, 0.0, 0.0)}))


class Client:
    """A page, as its server sees it."""

    def __init__(self, address):
        host, _, query = address.removeprefix("http://").partition("/?")
        self.token = query.removeprefix("token=")
        self.line = HTTPConnection(host, timeout=20)
        self.number = -1

    def ask(self, path, method="GET", body=None, token=None, headers=None, **query):
        given = urlencode({"token": self.token if token is None else token, **query})
        self.line.request(method, f"{path}?{given}", body, headers or {})
        answer = self.line.getresponse()
        return answer.status, answer.read()

    def frame(self):
        """Head and numbers of the next frame."""
        status, raw = self.ask("/frame", after=self.number)
        assert status == 200
        size = int.from_bytes(raw[:4], "little")
        head = json.loads(raw[4 : 4 + size])
        self.number = head["number"]
        return head, raw[4 + size :]

    def until(self, holds):
        while not holds(head := self.frame()[0]):
            pass
        return head

    def order(self, order, **given):
        return self.ask("/order", "POST", json.dumps({"order": order, **given}))


@contextmanager
def followed(*run, **options):
    """A client of a run in another thread, and the future of its result."""
    addresses, live = Queue(), options.pop("live", {})
    with ThreadPoolExecutor() as pool:
        result = pool.submit(integrate, *run, live=Live(browser=addresses.put, **live), **options)
        client = Client(addresses.get(timeout=20))
        try:
            yield client, result
        finally:
            if not result.done():
                client.order("end")
            client.line.close()
