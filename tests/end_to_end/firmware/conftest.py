# SPDX-License-Identifier: Apache-2.0
"""Makes the emulator of firmware-demo and the helpers of the other tests importable, however pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT / "firmware-demo", ROOT / "tests" / "end_to_end", Path(__file__).parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from boards import Firmware, build_firmware, chosen_boards  # noqa: E402 - found by the path above


@pytest.fixture(scope="module", params=chosen_boards())
def firmware(request: pytest.FixtureRequest) -> Firmware:
    """The linked firmware of each board."""
    return build_firmware(request.param)
