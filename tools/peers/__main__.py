# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

from codegen.process.starting import start

sys.exit(start("compare", "tools.peers.compare"))
