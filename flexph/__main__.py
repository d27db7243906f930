"""`python -m flexph`."""

from flexph.cli import main

main(prog_name="flexph")
