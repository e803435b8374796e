# SPDX-License-Identifier: Apache-2.0
"""What came of drawn models, kind by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

_SEVERAL = 4  # models that etch does not refuse


def never_compared(of_kinds: Mapping[str, Counter[str]]) -> list[str]:
    """The kinds of which etch took several models, and the library none: they would be without a finding for ever."""
    found = []
    for kind, outcomes in of_kinds.items():
        taken = sum(count for outcome, count in outcomes.items() if not outcome.startswith("refused"))
        if taken >= _SEVERAL and not outcomes["the same"] and not outcomes["different"]:
            found.append(kind)
    return found
