# SPDX-License-Identifier: Apache-2.0
"""A teacher's embeddings of texts, and a small BERT that learns them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch
from common import vocabulary
from common.batches import pad
from common.checkpoint import weights_digest, write_half, write_json
from common.heads import heads_of
from common.loop import Steps, train
from common.refusal import Refused
from common.start import start_embeddings
from folder import check_free, new_folder, state_file
from safetensors.torch import load_file
from teacher import check_teacher, lesson
from tokenizers import Tokenizer
from torch.nn.functional import normalize
from transformers import BertConfig, BertModel, logging

from codegen.files.texts import read_lines
from codegen.frontends import limits_of
from codegen.load.folder import load_checkpoint

_HEAD_WIDTH = 32
_INNER = 4  # widths of a feed-forward layer


def run(asked: argparse.Namespace) -> str:
    """Trains and writes the folder; returns the figures."""
    check_free(asked.out)
    heads_of(asked.width, _HEAD_WIDTH)  # that it is a width
    check_teacher(load_checkpoint(asked.teacher, limits_of), asked.width, asked.max_tokens)
    state = state_file(asked.state, asked.out)
    logging.set_verbosity_error()  # of the pooler, which nobody reads
    if asked.threads is not None:
        torch.set_num_threads(asked.threads)
    torch.use_deterministic_algorithms(True)
    texts = [line.decode("utf-8", "replace") for line in read_lines(asked.texts, "small")]
    if len(texts) < asked.batch:
        raise Refused(f"{asked.texts.name}: {len(texts)} texts, a step takes {asked.batch}")
    spec, kept = _vocabulary(asked.teacher, texts, asked.pieces)
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.enable_truncation(asked.max_tokens)
    ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    truths = lesson(asked.teacher, texts, asked.width, asked.max_tokens, state.with_suffix(".lesson"))
    torch.manual_seed(asked.seed)
    model = BertModel(_config(asked, len(kept)), add_pooling_layer=False)
    start_embeddings(model.embeddings, load_file(asked.teacher / "model.safetensors"), "embeddings.", kept)
    _say(f"{len(texts)} texts, {model.num_parameters():,} parameters")

    def loss(batch: list[int]) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = embed(model, [ids[i] for i in batch])
        return unlike(found, truths[batch].float())

    steps = Steps(asked.steps, asked.batch, asked.rate, asked.seed)
    depends = {
        "texts": texts,
        "teacher": weights_digest(asked.teacher),
        "vocabulary": spec,
        "--layers": asked.layers,
        "--width": asked.width,
        "--max-tokens": asked.max_tokens,
    }
    train(model, [len(one) for one in ids], loss, steps, state, depends)
    with new_folder(asked.out) as folder:
        _write(folder, model, spec, asked.max_tokens)
    return f"wrote {asked.out.name}"


def embed(model: BertModel, rows: list[list[int]]) -> torch.Tensor:
    """[rows, width]: the mean of a text's rows, of length 1."""
    padded, mask = pad(rows)
    states = model(padded, attention_mask=mask).last_hidden_state.float()
    weights = mask[:, :, None].float()
    return normalize((states * weights).sum(1) / weights.sum(1), dim=1)


def unlike(found: torch.Tensor, truths: torch.Tensor) -> torch.Tensor:
    """How far embeddings are from those that are to be learned, and how far the cosines of all pairs of a batch are."""
    cosines, wanted = found @ found.T, truths @ truths.T
    return (1 - (found * truths).sum(1)).mean() + ((cosines - wanted) ** 2).mean().sqrt()


def _vocabulary(teacher: Path, texts: list[str], pieces: int) -> tuple[dict, list[int]]:
    """tokenizer.json with the pieces that are kept, and their ids in the teacher's."""
    large = json.loads((teacher / "tokenizer.json").read_text(encoding="utf-8"))
    return vocabulary.build(large, texts, min(pieces, len(large["model"]["vocab"])))


def _config(asked: argparse.Namespace, pieces: int) -> BertConfig:
    return BertConfig(
        vocab_size=pieces,
        hidden_size=asked.width,
        num_hidden_layers=asked.layers,
        num_attention_heads=heads_of(asked.width, _HEAD_WIDTH),
        intermediate_size=_INNER * asked.width,
        hidden_act="relu",  # a comparison, where "gelu" is an erf
        max_position_embeddings=asked.max_tokens,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",  # the fused form's bfloat16 backward pass is slow on a CPU
    )


def _write(folder: Path, model: BertModel, spec: dict, max_tokens: int) -> None:
    """As sentence-transformers does."""
    settings = model.config.to_dict() | {"architectures": ["BertModel"], "dtype": "float16"}
    settings.pop("_name_or_path", None)
    write_half(folder / "model.safetensors", model.state_dict())
    write_json(folder / "config.json", settings, sort_keys=True)
    write_json(folder / "tokenizer.json", spec)
    write_json(folder / "tokenizer_config.json", vocabulary.tokenizer_config(max_tokens), sort_keys=True)
    modules = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    write_json(
        folder / "modules.json",
        [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{name}"}
            for i, (path, name) in enumerate(modules)
        ],
    )
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": model.config.hidden_size, "pooling_mode_mean_tokens": True}
    write_json(folder / "1_Pooling" / "config.json", pooling)


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
