# SPDX-License-Identifier: Apache-2.0
"""Makes tools.reports and the helpers of the other tests importable, however pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT, ROOT / "tests" / "end_to_end", Path(__file__).parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
