"""`python -m flexph`."""

import sys
from pathlib import Path

# Python puts the working directory first: a folder `cases` or a file `fem.py` there would be taken for ours.
if not sys.flags.safe_path and Path(sys.path[0]).resolve() == Path.cwd() != Path(__file__).resolve().parents[1]:
    del sys.path[0]

from flexph.cli import main

if __name__ == "__main__":  # workers under MPI import this module
    main(prog_name="flexph")
