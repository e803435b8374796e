# SPDX-License-Identifier: Apache-2.0
"""Writes what the `generate` of pinned `transformers` makes of over a thousand random texts of each family, in float32,
greedily and with beams, as digests: of all ids that are read, then of each text of what is written in either way.

    python tests/codegen/generation/record_tiny_digests.py [FAMILY ...] [--out DIR]

A null stands where at some step two of the best candidates, all that a step chooses among and the first that it leaves,
were nearer than 1e-4, or in the end the best two sequences. Needs torch 2.15.0 and transformers 5.23.0.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import transformers
from random_texts import TINY, digest, random_texts
from record_generation import _begin, check_installed
from transformers import GenerationMixin
from writer_shapes import MAX_TARGET

HERE = Path(__file__).resolve().parent
TRAIN = HERE.parents[2] / "tools" / "train"
sys.path[1:1] = [str(TRAIN / "translate"), str(TRAIN / "plain"), str(TRAIN)]
from textbook import TEXTBOOK  # noqa: E402 - of a folder above

BEAMS, NEAR = 4, 1e-4
NOT_THERE = -1e8  # a candidate of a beam that there is not yet


def model_of(folder: Path) -> Any:
    """In float32."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "transformer":
        kind = getattr(transformers, config["architectures"][0])
        return kind.from_pretrained(folder, dtype=torch.float32).eval()
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "model"
        shutil.copytree(folder, copy)
        settings = {key: config[key] for key in ("decoder_start_token_id", "eos_token_id")} | {"pad_token_id": 0}
        (copy / "generation_config.json").write_text(json.dumps(settings), encoding="utf-8")
        return TEXTBOOK.writer(copy)


@contextmanager
def gaps_of_candidates() -> Iterator[list[float]]:
    """The least difference of two of the candidates of each step of a search."""
    found: list[float] = []
    choose = GenerationMixin._get_top_k_continuations

    def noted(model: Any, accumulated_log_probs: torch.Tensor, **rest: Any) -> Any:
        best = accumulated_log_probs[0].topk(rest["beams_to_keep"] + 1).values
        best = best[best > NOT_THERE]
        found.extend((best[:-1] - best[1:]).tolist())
        return choose(model, accumulated_log_probs, **rest)

    with patch.object(GenerationMixin, "_get_top_k_continuations", noted):
        yield found


def written(model: Any, ids: list[int], beams: int) -> tuple[list[int], float]:
    """What is written for a text, and how near two candidates were."""
    source = torch.tensor([ids])
    begin = _begin(model, source)
    options = {"num_beams": beams, "do_sample": False, "max_length": begin + MAX_TARGET, "max_new_tokens": None}
    options |= {"num_return_sequences": beams, "return_dict_in_generate": True, "output_scores": True}
    with torch.inference_mode(), gaps_of_candidates() as gaps:
        found = model.generate(source, attention_mask=torch.ones_like(source), **options)
    if beams == 1:
        best = torch.stack(found.scores)[:, 0].topk(2).values
        gaps = (best[:, 0] - best[:, 1]).tolist()
    else:
        gaps.append(float(found.sequences_scores[0] - found.sequences_scores[1]))
    tokens = found.sequences[0].tolist()[begin:]
    said = model.generation_config.eos_token_id
    ends = said if isinstance(said, list) else [said]
    over = next((i for i, token in enumerate(tokens, 1) if token in ends), len(tokens))
    return tokens[:over], min(gaps)


def record(family: str) -> str:
    """The digests of a family."""
    folder = HERE / TINY[family]
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = model_of(folder)
    texts = random_texts(TINY[family], config["vocab_size"])
    rows = [digest([digest(ids) for ids in texts])]
    for ids in texts:
        found = [written(model, ids, beams) for beams in (1, BEAMS)]
        rows.append([None if gap < NEAR else digest(tokens) for tokens, gap in found])
    return "[" + ",\n ".join(map(json.dumps, rows)) + "]\n"


def main() -> None:
    """Records all families."""
    parser = argparse.ArgumentParser(description="Records what pinned libraries write.")
    parser.add_argument("families", nargs="*", metavar="FAMILY", default=list(TINY))
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR")
    arguments = parser.parse_args()
    check_installed()
    torch.set_num_threads(1)
    for family in arguments.families:
        (arguments.out / f"{family}_digests.json").write_text(record(family), encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
