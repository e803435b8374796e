# SPDX-License-Identifier: Apache-2.0
"""From etch.json to the options of `etch generate` that make the same model again, byte for byte.

What a search has found, bits and lengths, is there as what was found; the vocabulary that is left is named by the
folder that has it. What other files than the checkpoint decide, heads and texts to smooth and calibrate by, the caller
names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..asked_task import asked_by


def same_options(manifest: dict[str, Any], directory: str | Path) -> list[str]:
    """`directory`: the generated folder, as the command names it."""
    options = {
        "--name": manifest["name"],
        "--recipe": manifest["recipe"],
        "--embedding-bits": manifest.get("embedding_bits"),
        "--bits": ",".join(f"{place}={bits}" for place, bits in manifest.get("bits", {}).items()) or None,
        "--max-tokens": manifest["max_tokens"],
        "--max-target": manifest.get("max_target"),
        "--pooling": manifest.get("pooling"),
        "--dimensions": manifest.get("dimensions"),
        "--task": asked_by(manifest["task"]),
        "--beams": manifest.get("beams"),
        "--languages": ",".join(manifest.get("languages", ())) or None,
        "--tables": manifest.get("tables"),
        "--target": manifest["target"],
        "--keep-vocabulary": directory if "kept_ids" in manifest else None,
    }
    words = [str(word) for option in options.items() if option[1] is not None for word in option]
    for name, region in manifest.get("regions", {}).items():
        words += ["--region", f"{name}={region['room']},{region['cost']}"]
    for name, place in manifest.get("table_places", {}).items():
        copied = ",copied" if place["copied"] else ""
        words += ["--table-region", f"{name}={place['room']},{place['cost']}{copied}"]
    return [*words, *(["--gpu"] if manifest.get("gpu") else [])]
