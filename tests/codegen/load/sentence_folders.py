# SPDX-License-Identifier: Apache-2.0
"""Files that make a tiny checkpoint a folder of sentence-transformers: as versions 1 to 5 write them, and version 6."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from malformed import SENTENCE, load_and_take
from tiny_checkpoint import write_json

from codegen.load.sentence import SentenceModules

MODULES = "modules.json"
POOLING = "1_Pooling/config.json"
NORMALIZE = "2_Normalize/config.json"
SETTINGS = "config_sentence_transformers.json"
WIDTH = 10  # of the tiny checkpoint
OLD = "sentence_transformers.models."
NEW = "sentence_transformers.base.modules."
FLAGS = {
    "pooling_mode_cls_token": False,
    "pooling_mode_mean_tokens": True,
    "pooling_mode_max_tokens": False,
    "pooling_mode_mean_sqrt_len_tokens": False,
}


def modules(*types: str, paths: tuple[str, ...] = ("", "1_Pooling", "2_Normalize", "3")) -> Callable[[Path], None]:
    """modules.json with these types."""
    items = [{"idx": i, "name": str(i), "path": paths[i], "type": name} for i, name in enumerate(types)]
    return lambda folder: write_json(folder / MODULES, items)


def types(*names: str) -> Callable[[Path], None]:
    return modules(*(OLD + name for name in names))


def old_files(folder: Path) -> None:
    """As versions 1 to 5 wrote them: mean, then Normalize."""
    modules(OLD + "Transformer", OLD + "Pooling", OLD + "Normalize")(folder)
    (folder / "1_Pooling").mkdir()
    write_json(folder / POOLING, {"word_embedding_dimension": WIDTH, **FLAGS})
    write_json(folder / SENTENCE, {"max_seq_length": 24, "do_lower_case": False})
    write_json(folder / SETTINGS, {"__version__": {"sentence_transformers": "2.0.0"}})


def new_files(folder: Path) -> None:
    """As version 6 writes them."""
    modules(
        NEW + "transformer.Transformer",
        "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
        NEW + "normalize.Normalize",
    )(folder)
    for name in (POOLING, NORMALIZE):
        (folder / name).parent.mkdir()
    write_json(folder / POOLING, {"embedding_dimension": WIDTH, "pooling_mode": "mean", "include_prompt": True})
    names = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
    write_json(folder / NORMALIZE, names)
    task = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}
    write_json(
        folder / SENTENCE,
        {
            "transformer_task": "feature-extraction",
            "modality_config": task,
            "module_output_name": "token_embeddings",
            "processing_kwargs": {},
            "unpad_inputs": None,
        },
    )
    write_json(
        folder / SETTINGS,
        {
            "model_type": "SentenceTransformer",
            "__version__": {"sentence_transformers": "6.2.0"},
            "prompts": {"query": "", "document": ""},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    )


def cross_encoder(folder: Path) -> None:
    """As version 6 writes them: the classifier is all."""
    modules(NEW + "transformer.Transformer")(folder)
    task = {"text": {"method": "forward", "method_output_name": "logits"}}
    write_json(
        folder / SENTENCE,
        {"transformer_task": "sequence-classification", "modality_config": task, "module_output_name": "scores"},
    )
    write_json(folder / SETTINGS, {"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.linear.Identity"})


def read(folder: Path) -> SentenceModules | None:
    return load_and_take(folder).sentence
