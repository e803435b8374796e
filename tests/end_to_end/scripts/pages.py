# SPDX-License-Identifier: Apache-2.0
"""The pages that tell users what to do: the project's README and what it leads to."""

from __future__ import annotations

import re

from classify_program import ROOT

README = ROOT / "README.md"
PAGES = (
    README,
    ROOT / "codegen/CHANGELOG.md",
    ROOT / "codegen/ERRORS.md",
    ROOT / "codegen/FAMILIES.md",
    ROOT / "codegen/OPTIONS.md",
    ROOT / "codegen/SECURITY.md",
    ROOT / "firmware-demo/README.md",
    ROOT / "generated/README.md",
    ROOT / "runtime/ARITHMETIC.md",
    ROOT / "runtime/src/cuda/README.md",
    ROOT / "tools/README.md",
    ROOT / "tools/benchmarks/README.md",
    ROOT / "tools/cli/README.md",
    ROOT / "tools/examples/README.md",
)
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
PROSE = re.sub(r"^```.*?^```$", "", TEXT, flags=re.DOTALL | re.MULTILINE)
SPANS = frozenset(re.findall(r"`([^`\n]+)`", PROSE))
BLOCKS = tuple(re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE))
