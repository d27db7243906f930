"""Megabytes of the packages in this environment, as they lie on the disk with their bytecode.

python3 -m venv e && e/bin/pip install -q ".[plot]" && e/bin/python benchmarks/environment_size.py
"""

import sysconfig
from pathlib import Path

OF_VENV = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
"""What a virtual environment brings by itself."""
SHOWN = 12
BLOCK = 4096


def size_of(folder: Path) -> float:
    """Size on a disk with blocks of 4 KB [MB]."""
    files = [folder] if folder.is_file() else [path for path in folder.rglob("*") if path.is_file()]
    return sum(-(-path.stat().st_size // BLOCK) * BLOCK for path in files) / 2**20


def main() -> None:
    """Print the sum, with and without what the environment brings, and the largest packages."""
    site = Path(sysconfig.get_paths()["purelib"])
    sizes = {path.name: size_of(path) for path in site.iterdir()}
    own = {name: size for name, size in sizes.items() if not name.startswith(OF_VENV)}
    print(f"{sum(own.values()):.0f} MB ({sum(sizes.values()):.0f} with pip and setuptools)")
    for name, size in sorted(own.items(), key=lambda item: -item[1])[:SHOWN]:
        print(f"{size:6.0f} MB {name}")


if __name__ == "__main__":
    main()
