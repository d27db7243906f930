"""Command line `flexph` and `python -m flexph`, with a defined end after an interruption.

After Python has started, Ctrl-C and SIGTERM end the command with a message and status 130 or 143; after the last write
they are ignored.
"""

import signal
import sys
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Run the command line and end the process with its status."""
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    status: int | str | None = 0
    try:
        for number in SIGNALS:
            signal.signal(number, interrupt)
        try:
            from flexph.cli import main as command

            command(prog_name="flexph")
        except SystemExit as end:
            status = end.code
        finally:
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:  # during imports or after the command, which reports its own interrupts
        sys.stderr.write("interrupted\n")
        status = 1
    sys.exit(128 + received[-1] if received and status == 1 else status)


# Python puts the working directory first: a folder `cases` or a file `fem.py` there would shadow the packages.
if not sys.flags.safe_path and Path(sys.path[0]).resolve() == Path.cwd() != Path(__file__).resolve().parents[1]:
    del sys.path[0]

if __name__ == "__main__":  # workers under MPI import this module
    main()
