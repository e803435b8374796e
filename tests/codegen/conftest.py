# SPDX-License-Identifier: Apache-2.0
"""Makes the generator and the helpers beside this file importable, however pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, *sorted({path.parent for path in HERE.rglob("test_*.py")} - {HERE}), HERE.parents[1]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
