# SPDX-License-Identifier: Apache-2.0
"""`python3 -m codegen`."""

import _signal
import sys

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # which ends the process without a word until signals.py is read
if sys.version_info < (3, 10):  # noqa: UP036 - the floor is what this line is for
    sys.exit("etch: Python 3.10 or newer is needed, this is " + sys.version.split()[0])

from .process.signals import leave_on_signals


def main() -> int:
    """`etch` and `python3 -m codegen`."""
    leave_on_signals("etch")
    from .cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
