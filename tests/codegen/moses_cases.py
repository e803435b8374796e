# SPDX-License-Identifier: Apache-2.0
"""What `record_moses.py` of the generation folder asks FSMTTokenizer and BioGptTokenizer of `transformers`: folders,
texts and ids, the same wherever they are made."""

from __future__ import annotations

import random
import string
from pathlib import Path

from moses_files import write_folder

_LETTERS = (
    string.ascii_letters
    + string.digits
    + ".,'-&;@#\u00e4\u00df\u201e\u201c\u0430\u0431\u0433\u0441\u0442\u044b\u20ac\u4e2d(["
)
PAIRS = (
    *(("i", "n"), ("in", "g</w>"), ("&", "a"), ("&a", "pos"), ("p", "o"), ("po", "s"), ("&apos", ";</w>")),
    *(
        ("&apos", ";"),
        ("&apos;", "s</w>"),
        ("@", "-"),
        ("@-", "@</w>"),
        ("\u0442", "\u044b"),
        ("\u0442\u044b", "\u0441"),
    ),
    *(
        ("b", "zw"),
        ("z", "w"),
        ("bzw", ".</w>"),
        ("&", "q"),
        ("&q", "uot"),
        ("u", "o"),
        ("uo", "t"),
        ("&quot", ";</w>"),
    ),
)
PIECES = (
    *(letter + end for end in ("", "</w>") for letter in _LETTERS),
    *(
        "ing</w>",
        "&apos;",
        "&apos;</w>",
        "&apos;s</w>",
        "@-@</w>",
        "\u0442\u044b\u0441",
        "bzw.</w>",
        "&quot;</w>",
        "in",
    ),
    *("...</w>", "''</w>", "``</w>", "&#91;</w>", "&amp;</w>", "!</w>", "?", "\u3002</w>", "\ud55c\uad6d</w>", "$</w>"),
)
FOLDERS = {
    "en-de": {"tokenizer_class": "FSMTTokenizer", "langs": ["en", "de"]},
    "de-en": {"tokenizer_class": "FSMTTokenizer", "langs": ["de", "en"], "do_lower_case": True},
    "ru-en": {"tokenizer_class": "FSMTTokenizer", "langs": ["ru", "en"]},
    "biogpt": {"tokenizer_class": "BioGptTokenizer"},
}
TEXTS = (
    "",
    "It's a well-known fact \u2014 isn't it?",
    "Dr. No. 5 ing, e.g. \u201ea\u201c.",
    'Er sagt: \u201eDas geht, bzw. "nicht." so\u201c, z.B. am 1. Mai!',
    "5\u00a0000,5 \u20ac (ca. 3 %)",
    "\u0422\u044b\u0441. \u0433. 5 \u0442\u044b\u0441. \u0433. a",
    "\u0430\u0431 - \u0431\u0430'\u0430 \u00ab\u00a0\u0441\u0442\u00a0\u00bb",
    "a<b> & c|d [e]",
    "x\u200by \x07 \uff11\u3002  \uff08a\uff09",
    "in...  .. . it's 5's 'a'",
    "\u03a3\u0391\u03a3. \u00c4B",
    "a</s>b <unk><pad>",
    "10-20 a-b- -c @-@",
    '"a," b "c".',
)


def write(place: Path, name: str) -> None:
    """One of `FOLDERS`; what is written has the pieces of what is read."""
    write_folder(place, PAIRS, PIECES, **FOLDERS[name])


def drawn_ids() -> list[list[int]]:
    """Of texts that may be written."""
    source = random.Random(7)
    return [[source.randrange(4 + len(PIECES)) for _ in range(source.randint(1, 14))] for _ in range(120)]
