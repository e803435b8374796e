# SPDX-License-Identifier: Apache-2.0
"""`tools/api`: Doxygen reads the headers' plain comments, and what it warns of fails."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT

from tools.doxygen import comments

needs_doxygen = pytest.mark.skipif(shutil.which("doxygen") is None, reason="doxygen is not installed")

HEADER = """// SPDX-License-Identifier: Apache-2.0
// What it is.
#pragma once

// Not of the next one.

// Of `f`: a < b.
//     shown as it stands
int f();  // behind it,
          // and below
/* In C. */
int g(void); /* of g */
"""
READ = r"""/// \file
/// What it is.
#pragma once

// Not of the next one.

/// Of <tt>f</tt>: a &lt; b.
/// \verbatim     shown as it stands \endverbatim
int f();  ///< behind it,
          ///< and below
/// In C.
int g(void); ///< of g
"""


def test_plain_comments_are_read_line_for_line() -> None:
    assert "\n".join(comments.filtered(HEADER)) == READ


@pytest.mark.parametrize("header", sorted((ROOT / "runtime/include").rglob("*.h*")), ids=lambda path: path.name)
def test_no_line_is_lost(header: Path) -> None:
    source = header.read_text(encoding="utf-8")
    assert len(comments.filtered(source)) == len(source.split("\n"))


def words(page: Path) -> str:
    text = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(text).split())


@needs_doxygen
@pytest.mark.sweep
def test_the_reference_is_made_without_a_warning(tmp_path: Path) -> None:
    made = subprocess.run([ROOT / "tools/api", tmp_path], capture_output=True, text=True, timeout=600, check=False)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.endswith("index.html\n")
    model = words(tmp_path / "html/namespaceetch_1_1agnews.html")
    assert "Several texts at once, with the bits that each has alone" in model
    assert "is inside a call" in words(tmp_path / "html/namespaceetch.html")


@needs_doxygen
def test_a_warning_fails(tmp_path: Path) -> None:
    (tmp_path / "broken.hpp").write_text("/// Of f.\n/// \\param y nothing\nint f(int x);\n")
    own = f"INPUT = {tmp_path}\nINPUT_FILTER =\nOUTPUT_DIRECTORY = {tmp_path / 'out'}\n"
    given = (ROOT / "tools/doxygen/Doxyfile").read_text(encoding="utf-8") + own
    made = subprocess.run(["doxygen", "-"], input=given, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode != 0
    assert "is not found in the argument list" in made.stderr
