# SPDX-License-Identifier: Apache-2.0
"""Makes the generator and the helpers of these tests importable, however pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[1]
for folder in (Path(__file__).parent, _TESTS / "end_to_end", _TESTS / "codegen", _TESTS.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
