"""The stream of a view in a page, read as flexph/view/browser/stream.js and motion.js read it, in double precision."""

import base64
import gzip
import json
import re

import numpy as np

TYPES = {"i2": "<i2", "u2": "<u2", "u4": "<u4", "f4": "<f4"}


def streams_of(page):
    """The scenes of all views of a page."""
    return [read_stream(gzip.decompress(base64.b64decode(own))) for own in re.findall(r'flexph-data">([^<]*)<', page)]


def read_stream(raw):
    size = int.from_bytes(raw[:4], "little")
    scene, arrays = json.loads(raw[4 : 4 + size]), raw[4 + size :]

    def read(told):
        numbers = np.dtype(TYPES[told["type"]])
        planes = np.frombuffer(arrays, np.uint8, numbers.itemsize * told["count"], told["offset"])
        return np.frombuffer(planes.reshape(numbers.itemsize, -1).T.tobytes(), numbers)

    def path(told, times):
        changes = read(told["changes"]).reshape(told["width"], times)
        return np.cumsum(changes, axis=1, dtype=np.int16).T * told["step"]  # sums wrap around

    def series(told, times):
        if told is None:
            return 0.0
        if told["rank"]:
            modes = read(told["modes"]).reshape(told["rank"], -1).astype(float)
            return read(told["coefficients"]).reshape(times, -1) @ modes + told["step"] * read(told["mean"])
        return np.cumsum(read(told["changes"]).reshape(times, -1), axis=0, dtype=np.int16) * told["step"]

    for part in scene["parts"]:
        k = part["times"]
        part["base"] = read(part["base"]["numbers"]).reshape(-1, 3) * part["base"]["step"]
        part["place"] = path(part["place"], k)
        part["turn"] = np.tile([0.0, 0, 0, 1], (k, 1)) if part["turn"] is None else path(part["turn"], k)
        for name in ("rest", "deformation"):
            part[name] = np.reshape(series(part[name], k) + np.zeros((k, part["base"].size)), (k, -1, 3))
        part["fields"] = {n: series(own, k) + np.zeros((k, len(part["base"]))) for n, own in part["fields"].items()}
        part["corners"], part["triangles"] = (read(part[name]) for name in ("corners", "triangles"))
    return scene


def positions(part, scale=1.0):
    """World positions of the points of a part at all times, (k, p, 3)."""
    x, y, z, w = (part["turn"] / np.linalg.norm(part["turn"], axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    own = part["base"] + part["rest"] + scale * part["deformation"]
    return part["place"][:, None] + np.einsum("ijk,kpj->kpi", np.array(rows), own)
