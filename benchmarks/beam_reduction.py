"""Reduction of the clamped beam of 400 states to 20: errors and times beside PHIRKA of pyMOR. One thread."""

from __future__ import annotations

from cases import beam_reduction as case


def main() -> None:
    found = case.run()
    peer = next((m for m in found.methods if "pyMOR" in m.name), None)
    print(f"{'method':32} {'order':>5} {'H∞ rel':>10} {'H2 rel':>10} {'ms':>8} {'over PHIRKA':>12}  certificate")
    for m in found.methods:
        ratio = f"{m.seconds / peer.seconds:12.3f}" if peer else f"{'–':>12}"
        print(f"{m.name:32} {m.order:5} {m.hinf:10.3e} {m.h2:10.3e} {1e3 * m.seconds:8.1f} {ratio}  {m.certificate}")


if __name__ == "__main__":
    main()
