# SPDX-License-Identifier: Apache-2.0
"""Pages that say what the code says: codegen/OPTIONS.md, every command and option of `etch`, from the parsers;
codegen/FAMILIES.md, every model type, from the front-ends.

    python3 tools/support/reference.py           says whether the files are current
    python3 tools/support/reference.py --write   writes them

Exit codes: 0 current or written, 1 out of date, 2 wrong use.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from codegen.cli import make_parser  # noqa: E402
from codegen.frontends import FRONT_ENDS, decoders, encoder_decoders, encoders, text_halves  # noqa: E402
from codegen.shells.parsers import Option, commands_in  # noqa: E402

WIDTH = 138  # of a line of text
OPTIONS = """# Commands and options of etch

What `etch COMMAND --help` says, in one place; `python3 tools/support/reference.py --write` writes this page.
"""
FAMILIES = """
What `model_type` of config.json may be, as each module below `frontends/` says what it reads;
`python3 tools/support/reference.py --write` writes this page. What a model does follows from the class in
`architectures` ([README](../README.md#your-own-model)); what a configuration asks for beyond that is refused by name
([errors](ERRORS.md)).
"""
_USUAL_NAMES = " Names as in `transformers`."


def options_page() -> str:
    """codegen/OPTIONS.md."""
    parts = [OPTIONS]
    for command in commands_in(make_parser()):
        description = f" {command.description}" if command.description else ""
        said = f"{command.summary[:1].upper()}{command.summary[1:]}.{description}"
        parts.append(f"## etch {command.name}\n\n{_filled(said)}\n")
        for title, options in command.groups.items():
            rows = [_filled(f"- {_shown(option)}: {_said(option)}", subsequent_indent="  ") for option in options]
            heading = f"**{title}**\n\n" if title else ""
            parts.append(heading + "\n".join(rows) + "\n")
    return "\n".join(parts)


def families_page() -> str:
    """codegen/FAMILIES.md."""
    sections = "\n".join(_section(folder) for folder in (encoders, decoders, encoder_decoders, text_halves))
    return f"# Model types\n\n{_filled(' '.join(FAMILIES.split()))}\n\n{sections}"


def _section(folder: ModuleType) -> str:
    """The families of a folder of `frontends/`, below what it says of them."""
    title, _, said = (folder.__doc__ or "").partition(": ")
    families = sorted(name for name, module in FRONT_ENDS.items() if module.__package__ == folder.__name__)
    rows = [_filled(f"- `{name}`: {_read_by(FRONT_ENDS[name])}", subsequent_indent="  ") for name in families]
    return f"## {title}\n\n{_filled(said[:1].upper() + said[1:])}\n\n" + "\n".join(rows) + "\n"


def _read_by(front_end: ModuleType) -> str:
    said = (front_end.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(said.split()).removesuffix(_USUAL_NAMES)


PAGES = {ROOT / "codegen/OPTIONS.md": options_page, ROOT / "codegen/FAMILIES.md": families_page}


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
    write = parser.parse_args().write
    old = [path for path, page in PAGES.items() if not path.is_file() or path.read_text(encoding="utf-8") != page()]
    for path in old:
        if write:
            path.write_text(PAGES[path](), encoding="utf-8")
        else:
            print(f"{path.relative_to(ROOT)} is not what the code says: python3 tools/support/reference.py --write")
    return 1 if old and not write else 0


if __name__ == "__main__":
    sys.exit(main())
