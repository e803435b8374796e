# SPDX-License-Identifier: Apache-2.0
"""Makes the helpers beside it importable, however pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

if str(Path(__file__).parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parent))
