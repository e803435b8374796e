# SPDX-License-Identifier: Apache-2.0
"""`etch merge`: the folder of an adapter, and that of its base, to a checkpoint of its own.

The result is written only where a front-end finds every tensor of the model in it, by name and shape.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import printable
from ..files.safetensors_file import Stored, write_safetensors
from ..folders.checkpoint_folder import copy_others, is_weights, publish
from ..folders.output import prepare_target
from ..load.files import CheckpointFolder
from ..load.folder import ADAPTER_FILE, CONFIG_FILE
from ..load.shards import WEIGHTS_FILE, open_weights
from ..load.terms import FILES as TERMS_FILES
from ..load.terms import read_terms
from ..readable import check_readable
from .adapter import Adapter, read_adapter
from .configuration import adapted_class, class_of, is_words, is_words_head, merged_config, predicts_words
from .names import find_naming
from .refusal import refusal, tensor_refusal
from .settings import LoraSettings, read_settings
from .weights import merged_weights

_NOTICE = "NOTICE"
# Of the adapter's folder: about itself, its training, and its terms, which go into NOTICE.
_OWN = frozenset({ADAPTER_FILE, "trainer_state.json", *TERMS_FILES})


def merge(adapter: Path, base: Path, out: Path, labels: tuple[str, ...] | None, echo: Callable[[str], None]) -> None:
    """`adapter` and `base` -> `out`, all or nothing. `labels` are the names of its classes, where they are not to be
    those of config.json."""
    change, source = CheckpointFolder(adapter), CheckpointFolder(base)
    if source.has(ADAPTER_FILE):
        raise refusal("adapter-not-supported", "the second folder is an adapter, too: merge that one first")
    prepare_target(out, echo)
    settings = read_settings(change)
    told, own = source.read_json(CONFIG_FILE), change.read_json_if_present(CONFIG_FILE)
    tensors, _ = open_weights(source)
    changes = _as_in_file(read_adapter(change, settings), tensors.names)
    echo(_summary(settings, changes))
    base_class = class_of(told)
    model_class = adapted_class(base_class, settings) if own is None else class_of(own)
    names = _kept(tensors.names, changes, model_class if model_class != base_class else None)
    if model_class != base_class:
        echo(
            f"class        {model_class}; of the base, {base_class}, {len(tensors.names) - len(names)} tensors left out"
        )
    weights = merged_weights(tensors, names, changes, str(told.get("model_type")))
    config = merged_config(told if own is None else own, model_class, changes.whole, labels)
    if predicts_words(model_class) and not any(is_words_head(name) for name in names):
        before = {name: Stored(*tensors.stored(of)) for name, of in names.items()}
        config |= _untie_words(weights, before, changes, settings, model_class)
    with tempfile.TemporaryDirectory(prefix="etch-merge-") as place:
        fresh = Path(place)
        copy_others(source, fresh, lambda name: is_weights(name) and not os.path.dirname(name))
        copy_others(change, fresh, lambda name: (is_weights(name) and not os.path.dirname(name)) or name in _OWN)
        _add_terms(change, fresh)
        (fresh / CONFIG_FILE).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        write_safetensors(fresh / WEIGHTS_FILE, weights)
        check_readable(fresh, echo)
        publish(fresh, out, {"merged": True})
    echo(f"wrote {out}")


def _summary(settings: LoraSettings, adapter: Adapter) -> str:
    kind = "DoRA" if settings.has_magnitudes else "LoRA"
    tokens = sum(len(tokens) for tokens, _ in adapter.token_rows.values())
    parts = [f"{kind} of rank {settings.rank}, weights changed: {len(adapter.low_rank)}"]
    parts += [f"tokens: {tokens}"] if tokens else []
    parts += [f"whole tensors: {len(adapter.whole)}"] if adapter.whole else []
    beside = f", trained beside {printable(settings.base)}" if settings.base is not None else ""
    return f"adapter      {', '.join(parts)}{beside}"


def _as_in_file(adapter: Adapter, base: tuple[str, ...]) -> Adapter:
    """Versions of the library have two names for what makes logits (GPT-NeoX's `embed_out` is `lm_head` in newer ones):
    by that of the base's file."""
    heads = [name.removesuffix(".weight") for name in base if is_words_head(name)]
    for module in {*adapter.low_rank, *(name.removesuffix(".weight") for name in adapter.whole)}:
        if len(heads) == 1 and is_words_head(f"{module}.weight"):
            adapter = adapter.renamed(module, heads[0])
    return adapter


def _kept(base: tuple[str, ...], adapter: Adapter, changed_class: str | None) -> dict[str, str]:
    """Names of the adapted class -> names of the base. The base's own head is left out where the class is another."""
    needed = adapter.needed()
    naming = find_naming(base, needed)
    first = {name.partition(".")[0] for name in needed}
    has_root = changed_class is not None and not changed_class.endswith("Model") and len(first) == 1
    root = f"{first.pop()}." if has_root else ""
    names = {naming.of(name): name for name in base}
    return {name: of for name, of in names.items() if name is not None and name.startswith(root)}


def _untie_words(
    weights: dict[str, Stored], before: Mapping[str, Stored], adapter: Adapter, settings: LoraSettings, model_class: str
) -> dict[str, Any]:
    """What config.json says of words and logits whose weights were one in the base.

    An adapted model computes logits by the words of before where only these are changed: then the merged one has them
    in `weights` as a tensor of its own. A head that comes with the adapter and is the same as the words is taken out.
    """
    words = next((name for name in weights if is_words(name)), None)
    head = next((name for name in weights if is_words_head(name)), None)
    if words is None:
        return {}
    if head is None:
        module = words.removesuffix(".weight")
        if not (module in adapter.low_rank or (words in adapter.whole and module.rpartition(".")[2] in settings.saved)):
            return {}
        if not model_class.endswith(("ForCausalLM", "LMHeadModel")):
            message = f"it changes words that make logits, too, which a {model_class} cannot have as two tensors"
            raise tensor_refusal("adapter-ties", message, words)
        weights["lm_head.weight"] = before[words]
    elif weights[head] == weights[words]:
        del weights[head]
        return {}
    return {"tie_word_embeddings": False}


def _add_terms(adapter: CheckpointFolder, to: Path) -> None:
    """The adapter's terms, behind those of the base."""
    terms = read_terms(adapter)
    if terms is not None:
        with (to / _NOTICE).open("a", encoding="utf-8") as notice:
            notice.write(f"Of the adapter that was merged into these weights:\n\n{terms}")
