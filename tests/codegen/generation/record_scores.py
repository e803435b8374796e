# SPDX-License-Identifier: Apache-2.0
"""Writes BLEU and chrF of texts against references, as sacreBLEU 2.6.0 has them without options.

    python tests/codegen/generation/record_scores.py [--out FILE]

The texts are made here: words with all that the tokenization splits, and references changed at random.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WORDS = (
    *(
        "Ein",
        "Mann",
        "f\u00e4hrt",
        "die",
        "Stra\u00dfe",
        "entlang",
        "\u65e5\u672c",
        "Hund",
        "l\u00e4uft",
        "the",
        "a",
        "\U0001f600",
    ),
    *(
        "3.14",
        "1,000",
        "2-3",
        "a.b",
        "U.S.",
        "don't",
        "(so)",
        "\u201eja\u201c",
        "...",
        "-",
        "x-y",
        "9-",
        ".5",
        "5.",
        ",,",
        "\u2014",
    ),
    *(
        "&amp;",
        "&quot;",
        "&lt;b&gt;",
        "&",
        "<skipped>",
        "#1",
        "50%",
        "a/b",
        "[c]",
        "{d}~",
        "`e`",
        "\u00a0",
        "\u3000",
        "\t",
        "-\n",
        "\n",
    ),
)
EDGES = [
    [["", ""]],
    [["", "a b"], ["a", ""]],
    [["a b c", "a b c"]],
    [["a b c d e", "a b c d e"]],
    [["a b x d e f", "a b c d e f g h"]],
    [["nothing here is right", "doch alles ganz anders"]],
    [["der  Hund .", "der Hund."], ["Hund-\n", "Hund -"]],
]


def _changed(source: random.Random, words: list[str]) -> list[str]:
    kept = [source.choice(WORDS) if source.random() < 0.15 else word for word in words if source.random() > 0.1]
    return kept if source.random() < 0.5 else kept + source.choices(WORDS, k=source.randint(0, 2))


def main() -> None:
    """Records edges, then corpora of random texts."""
    import sacrebleu

    parser = argparse.ArgumentParser(description="Records what sacreBLEU makes of texts.")
    parser.add_argument("--out", type=Path, default=HERE / "sacrebleu.json", metavar="FILE")
    arguments = parser.parse_args()
    source = random.Random(7)
    corpora: list[list[list[str]]] = list(EDGES)
    for rows in (1, 1, 2, 5, 12):
        references = [source.choices(WORDS, k=source.randint(1, 14)) for _ in range(rows)]
        corpora.append([[" ".join(_changed(source, words)), " ".join(words)] for words in references])
    lines = []
    for corpus in corpora:
        texts, references = (list(column) for column in zip(*corpus, strict=True))
        found: dict[str, Any] = {
            "bleu": sacrebleu.corpus_bleu(texts, [references]).score,
            "chrf": sacrebleu.corpus_chrf(texts, [references]).score,
            "rows": corpus,
        }
        lines.append(json.dumps(found))
    arguments.out.write_text("[" + ",\n ".join(lines) + "]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
