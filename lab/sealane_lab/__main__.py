"""``python -m sealane_lab``: the same command as ``sealane-lab``."""

import sys

from sealane_lab.cli import main

sys.exit(main())
