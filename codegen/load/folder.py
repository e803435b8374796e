# SPDX-License-Identifier: Apache-2.0
"""The first stage: a checkpoint folder to one frozen value. The trust boundary: nothing here runs foreign code."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from .config import FILE as CONFIG_FILE
from .config import Config
from .files import CheckpointFolder
from .max_tokens import default_max_tokens
from .refusal import refusal
from .safetensors import TensorFile
from .sentence import SentenceModules, read_sentence_modules
from .shards import INDEX_FILE, WEIGHTS_FILE, open_weights
from .tokenizer import load_tokenizer
from .tokenizer_spec import WordPieceSpec

ADAPTER_FILE = "adapter_config.json"
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_OTHER_FORMATS = (".h5", ".msgpack", ".onnx", ".gguf")


@dataclass(frozen=True)
class Checkpoint:
    """What a folder holds, every file checked by itself; the front-end checks the tensors against the config."""

    config: Config
    tensors: TensorFile
    tokenizer: WordPieceSpec
    default_max_tokens: int
    max_tokens_source: str  # file and key that the default comes from
    digest: str  # of every file that was read
    sentence: SentenceModules | None  # what follows the encoder, where sentence-transformers wrote the folder
    notes: tuple[str, ...]  # assumptions and settings that were not used, for the report
    kept_ids: tuple[int, ...] | None = None  # the entries of the vocabulary that are left; None where all are


def load_checkpoint(path: str | os.PathLike[str], check_config: Callable[[Config], None] | None = None) -> Checkpoint:
    """Read a checkpoint folder. `check_config` may refuse the model's family before the other files are looked at."""
    folder = CheckpointFolder(path)
    if not folder.has(CONFIG_FILE):
        raise refusal("config-file-missing", f"the folder has no {CONFIG_FILE}")
    config = Config.from_json(folder.read_json(CONFIG_FILE))
    if check_config is not None:
        check_config(config)
    config.labels()
    sentence, sentence_notes = read_sentence_modules(folder, config.positive_int("hidden_size"))
    if folder.has(ADAPTER_FILE):
        raise refusal(
            "adapter-not-supported", "an adapter changes the weights: merge it and save the result", file=ADAPTER_FILE
        )
    if not folder.has(WEIGHTS_FILE) and not folder.has(INDEX_FILE):
        raise _no_weights(folder.names())
    tensors, weight_notes = open_weights(folder)
    tokenizer = load_tokenizer(folder, config.positive_int("vocab_size"))
    max_tokens, source = default_max_tokens(folder, config)
    return Checkpoint(
        config=config,
        tensors=tensors,
        tokenizer=tokenizer,
        default_max_tokens=max_tokens,
        max_tokens_source=source,
        digest=folder.digest(),
        sentence=sentence,
        notes=(config.notes() if sentence is None else sentence_notes) + weight_notes + tokenizer.notes,
    )


def _no_weights(names: list[str]) -> Exception:
    """What to tell about a folder without safetensors."""
    pickles = [name for name in names if name.endswith(_PICKLES) and re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", name)]
    if pickles:
        name = "pytorch_model.bin" if "pytorch_model.bin" in pickles else pickles[0]
        parts = "pytorch_model-*.bin" if re.fullmatch(r"pytorch_model-\d+-of-\d+\.bin", name) else name
        return refusal(
            "pickle-refused",
            'pickle is refused; convert with: python3 -c "import glob, torch, safetensors.torch as s; '
            f"w = {{k: v for f in glob.glob('{parts}') "
            "for k, v in torch.load(f, map_location='cpu', weights_only=True).items()}; "
            "s.save_file({k: v.clone().contiguous() for k, v in w.items()}, "
            f"'{WEIGHTS_FILE}', {{'format': 'pt'}})\"",
            file=name,
        )
    others = [name for name in names if name.endswith(_PICKLES + _OTHER_FORMATS)]
    if others:
        return refusal("format-not-supported", f"only {WEIGHTS_FILE} is read, not this format", file=others[0])
    return refusal("weights-missing", f"the folder has neither {WEIGHTS_FILE} nor {INDEX_FILE}")
