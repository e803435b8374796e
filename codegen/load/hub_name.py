# SPDX-License-Identifier: Apache-2.0
"""Names of repositories of the Hugging Face Hub."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,95}"
_NAME = re.compile(rf"({_PART})/({_PART})(?:@([A-Za-z0-9][A-Za-z0-9_./-]{{0,99}}))?")


@dataclass(frozen=True)
class HubName:
    """OWNER/NAME, and a branch, a tag or a commit."""

    owner: str
    name: str
    revision: str | None = None

    @classmethod
    def parse(cls, text: str) -> HubName | None:
        """None where it is no such name."""
        found = _NAME.fullmatch(text)
        return None if found is None else cls(*found.groups())

    @property
    def repository(self) -> str:
        """Without the revision."""
        return f"{self.owner}/{self.name}"

    def __str__(self) -> str:
        return self.repository if self.revision is None else f"{self.repository}@{self.revision}"
