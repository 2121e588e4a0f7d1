"""The program ``sealane``: the installed script, and ``python -m sealane``."""

import signal
import sys

from sealane._native import run_cli


def main() -> int:
    """Runs the command line of this process and returns its exit status."""
    # Python's handler only sets a flag for the interpreter, which does not run during the command.
    # A signal that was ignored at the start, as in the background of a script, stays ignored.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_cli(["sealane", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
