"""The program ``sealane``: ``python -m sealane``, and the script that is installed with the package."""

import signal
import sys

from sealane._native import run_cli


def main() -> int:
    """Runs the command line of this process and returns its exit status."""
    # Python's own handler only takes a note for an interpreter that is not running meanwhile.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_cli(["sealane", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
