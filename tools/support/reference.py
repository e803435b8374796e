# SPDX-License-Identifier: Apache-2.0
"""codegen/OPTIONS.md: every command and option of `etch`, from the parsers themselves.

    python3 tools/support/reference.py           says whether the file is current
    python3 tools/support/reference.py --write   writes it

Exit codes: 0 current or written, 1 out of date, 2 wrong use.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from codegen.cli import make_parser  # noqa: E402
from codegen.shells.parsers import Option, commands_in  # noqa: E402

PAGE = ROOT / "codegen/OPTIONS.md"
WIDTH = 138  # of a line of text
HEAD = """# Commands and options of etch

What `etch COMMAND --help` says, in one place; `python3 tools/support/reference.py --write` writes this page.
"""


def page() -> str:
    """The whole file."""
    parts = [HEAD]
    for command in commands_in(make_parser()):
        description = f" {command.description}" if command.description else ""
        said = f"{command.summary[:1].upper()}{command.summary[1:]}.{description}"
        parts.append(f"## etch {command.name}\n\n{_filled(said)}\n")
        for title, options in command.groups.items():
            rows = [_filled(f"- {_shown(option)}: {_said(option)}", subsequent_indent="  ") for option in options]
            heading = f"**{title}**\n\n" if title else ""
            parts.append(heading + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _filled(text: str, subsequent_indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=subsequent_indent, break_on_hyphens=False, break_long_words=False
    )


def _shown(option: Option) -> str:
    """`--option VALUE`, as a user types it, by each of its names."""
    return ", ".join(_as_typed(each) for each in option.spellings)


def _as_typed(option: Option) -> str:
    if option.choices and option.name:
        return f"`{option.name}` " + " / ".join(f"`{choice}`" for choice in option.choices)
    return f"`{' '.join(filter(None, (option.name, option.value)))}`"


def _said(option: Option) -> str:
    return f"{option.help}; needed" if option.required else option.help


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    wanted = page()
    if parser.parse_args().write:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") != wanted:
        print(f"{PAGE.relative_to(ROOT)} is not what the parsers say: python3 tools/support/reference.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
