# SPDX-License-Identifier: Apache-2.0
"""`python3 -m codegen`."""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - the floor is what this line is for
    sys.exit("etch: Python 3.10 or newer is needed, this is " + sys.version.split()[0])

from .cli import main

sys.exit(main())
