# SPDX-License-Identifier: Apache-2.0
"""The options of a tool whose usage is the comment at the head of its script, which answers --help."""

from __future__ import annotations

import argparse
from typing import NoReturn


class OptionParser(argparse.ArgumentParser):
    """Wrong use is one line and exit code 2."""

    def __init__(self, tool: str) -> None:
        super().__init__(prog=tool, add_help=False, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see tools/{self.prog} --help)\n")
