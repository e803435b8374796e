# SPDX-License-Identifier: Apache-2.0
"""Writes tiny random checkpoints, and what pinned libraries compute with them: the oracle of the front-ends.

    python tests/codegen/recorded/record.py [--out DIR] [FAMILY/VARIANT ...]

Needs Python 3.11, torch 2.15.0, transformers 5.23.0, sentence-transformers 6.2.0, numpy 2.4.6 and safetensors 0.8.0.
Weights are stored in float16, so that float32 and float64 begin from the same numbers; outputs are of single texts,
unpadded, on a CPU, with attn_implementation="eager".
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PINNED = {
    "torch": "2.15.0",
    "transformers": "5.23.0",
    "sentence-transformers": "6.2.0",
    "numpy": "2.4.6",
    "safetensors": "0.8.0",
}


def main() -> None:
    """Records the variants named, or all."""
    parser = argparse.ArgumentParser(description="Records what pinned libraries compute.")
    parser.add_argument("variants", nargs="*", metavar="FAMILY/VARIANT")
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR")
    arguments = parser.parse_args()
    from record_cases import check_installed

    check_installed(PINNED)
    import answer_variants
    import embedding_variants
    import expert_variants
    import flash_variants
    import gru_variants
    import library_variants
    import mask_variants
    import pair_variants
    import plain_variants
    import published_variants
    import roc_bert_numbers
    import sentence_variants
    import sparse_variants
    import static_variants
    import tag_variants
    import vector_variants
    import zero_shot_variants

    roc_bert_numbers.give_numbers()
    recorders = {
        f"{prefix}{name}": (module.record, name)
        for module, prefix in (
            (library_variants, ""),
            (sentence_variants, ""),
            (sparse_variants, ""),
            (static_variants, ""),
            (embedding_variants, ""),
            (tag_variants, ""),
            (mask_variants, ""),
            (expert_variants, ""),
            (published_variants, ""),
            (flash_variants, ""),
            (answer_variants, ""),
            (gru_variants, ""),
            (pair_variants, ""),
            (zero_shot_variants, ""),
            (vector_variants, ""),
            (plain_variants, "transformer_encoder/"),
        )
        for name in module.VARIANTS
    }
    for variant in arguments.variants or recorders:
        record, name = recorders[variant]
        folder = arguments.out / variant
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        record(folder, name, zlib.crc32(variant.encode()) % 10_000)
        for file in folder.rglob("*.safetensors"):
            file.chmod(0o644)  # its writer leaves 0600
        print(
            f"{variant}: {sum(file.stat().st_size for file in folder.rglob('*') if file.is_file()):,} bytes", flush=True
        )


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    sys.path.insert(1, str(HERE.parent))  # record_cases, tiny_checkpoint
    sys.path.insert(2, str(HERE.parents[2] / "tools" / "train" / "plain"))  # transformer, folder
    sys.path.insert(3, str(HERE.parents[2] / "tools" / "train"))  # common
    main()
