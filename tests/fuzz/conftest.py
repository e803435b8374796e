# SPDX-License-Identifier: Apache-2.0
"""Makes the generator and the helpers of these tests importable, however pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

for folder in (Path(__file__).parent, Path(__file__).parents[1] / "codegen", Path(__file__).parents[2]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
