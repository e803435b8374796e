# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

from .command import main

sys.exit(main())
