# SPDX-License-Identifier: Apache-2.0
"""Writes tiny random generative models, and what the greedy `generate` of pinned `transformers` makes of ids.

    python tests/codegen/generation/record_generation.py [--out DIR] [VARIANT ...]

Needs torch 2.15.0, transformers 5.23.0 and numpy. Weights are stored in float16, so that float32 and float64 begin from
the same numbers; the library computes in float64.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "recorded"))
sys.path.insert(2, str(HERE.parent))
sys.path += [str(HERE.parents[2]), str(HERE.parents[1] / "end_to_end" / "tokenizer")]
import record_cases  # noqa: E402 - of the folder above
from m2m_files import VOCABULARY  # noqa: E402 - beside this one
from random_weights import randomize  # noqa: E402 - of the folder beside
from tokenizers_of_texts import PROMPTS, SPECIAL, write_text_tokenizer  # noqa: E402 - beside this one
from unrounded import unrounded  # noqa: E402 - of the folder beside
from writer_settings import SETTINGS  # noqa: E402 - beside this one
from writer_shapes import MAX_TARGET  # noqa: E402 - beside this one
from writer_variants import CLASSES, OF_LLAMA, VARIANTS  # noqa: E402 - beside this one

PINNED = {"torch": "2.15.0", "transformers": "5.23.0"}
LOGITS = 5  # steps of each text whose logits are written down
# Beams, length_penalty, early_stopping.
SEARCHES: tuple[tuple[int, float, bool | str], ...] = (
    *((2, 1.0, False), (3, 0.6, True), (4, 2.0, "never")),
    *((4, -0.5, "never"), (5, 0.0, "never"), (8, 1.0, False)),
)
# Tokens behind which the end may come, of those whose texts can be short.
LEAST = {"bart/uneven": 6, "bart/ends": 4, "gpt2/narrow": 9, "mistral/ends": 3}
# Tokens that a search may write where it is told to write fewer than there may be; the first has a forced end.
FEWER = {"bart/two_layers": 5, "gpt2/narrow": 3}
EAGER = (
    "BigBirdPegasus",
    "Bloom",
    "CodeGen",
    "FSMT",
    "Gemma2",
    "GptOss",
    "GraniteMoeSWA",
    "GraniteSWA",
    "GPTJ",
    "GPTNeo",
    "LED",
    "Mamba2",
    "Mpt",
    "Mvp",
    "OpenAIGPT",
    "T5Gemma",
    "VaultGemma",
    "XGLM",
)  # no other attention
MIXTURES = (
    *(
        "FlexOlmo",
        "GptOss",
        "GraniteMoe",
        "GraniteMoeHybrid",
        "GraniteMoeSWA",
        "GraniteMoeShared",
        "HunYuanMoEV1",
        "Mixtral",
        "Olmoe",
        "Qwen2Moe",
        "Qwen3Moe",
    ),
    *("Qwen3Next", "Qwen3_5Moe", "Qwen3_5MoeWhole"),
    *("DeepseekV3", "Dots1", "Ernie4_5_Moe", "ExaoneMoe", "Glm4Moe", "Glm4MoeLite", "HYV3", "Lfm2Moe", "SolarOpen"),
)
OWN = ((None, None, None),) * 3
# Scaled, without a norm behind.
SMALL_WORDS = (
    *("bigbird_pegasus/own", "m2m_100/own", "pegasus/own", "gemma/own", "gemma2/own", "gemma3_text/own"),
    "gemma3/whole",
    *("gemma4/whole", "gemma4_text/own", "gemma4_text/plain"),
    *("t5gemma/own", "t5gemma/texts"),
    *("vaultgemma/own", "xglm/texts", "biogpt/own", "biogpt/texts"),
    *("fsmt/own", "fsmt/en-de", "fsmt/ru-en"),
)


def _in_float64(folder: Path, kind: str, model_class: Any, config: Any) -> Any:
    """The model of a folder, as the library reads it."""
    experts = {"experts_implementation": "eager"} if kind in MIXTURES else {}  # the usual one has no float64
    return model_class.from_pretrained(
        folder,
        config=config.from_pretrained(folder),
        dtype=torch.float64,
        attn_implementation="eager" if kind in EAGER else "sdpa",
        **experts,
    ).eval()


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    kind, settings = VARIANTS[name]
    model_class = getattr(transformers, CLASSES[kind])
    config = config_class(model_class, kind)(**settings)
    model = model_class(config)
    if settings.get("tie_word_embeddings") is False and kind.endswith("T5"):  # the class ties them all the same
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.clone())
    randomize(model, seed)
    if hasattr(model, "final_logits_bias"):
        bias = np.random.default_rng(seed).standard_normal((1, config.vocab_size)) * (name != "bart/texts")
        model.final_logits_bias.copy_(torch.from_numpy(bias).half())
    _weigh_words(model, name)
    model.half().save_pretrained(folder)
    _age(folder, name)
    if name in SETTINGS:
        (folder / "generation_config.json").write_text(json.dumps(SETTINGS[name], indent=1) + "\n", encoding="utf-8")
    else:
        (folder / "generation_config.json").unlink()
    double = _in_float64(folder, kind, model_class, type(config))
    random = np.random.default_rng(seed + 1)
    items = []
    for length in (1, 2, 5, 11, 24):
        ids = random.integers(3, config.vocab_size, length).tolist()
        source = torch.tensor([ids])
        written, logits = _written(double, source)
        rows = [[float(f"{value:.12g}") for value in row] for row in logits[: 1 if name in SPECIAL else LOGITS]]
        items.append(f'  {{"ids": {ids}, "written": {written},\n   "logits": {json.dumps(rows)}}}')
    lines = ",\n".join(items)
    source_of = f"transformers {transformers.__version__}"
    text = f'{{"source": "{source_of}", "max_target": {MAX_TARGET},\n "outputs": [\n{lines}\n]}}\n'
    (folder / "recorded.json").write_text(text, encoding="utf-8")
    if name in SPECIAL:
        write_text_tokenizer(folder, name)
        write = _translated if config.is_encoder_decoder else _gone_on_with
        texts = [write(double, AutoTokenizer.from_pretrained(folder), prompt) for prompt in PROMPTS]
        lines = ",\n ".join(json.dumps(text, ensure_ascii=False) for text in texts)
        (folder / "texts.json").write_text(f"[{lines}]\n", encoding="utf-8")
    found = _searched(double, random)
    if "num_beams" in SETTINGS.get(name, {}):
        found += _searched(double, random, OWN)
    (folder / "beams.json").write_text("[" + ",\n ".join(map(json.dumps, found)) + "]\n", encoding="utf-8")
    if name in LEAST:
        least = {"min_new_tokens": LEAST[name]}
        found = _searched(double, random, SEARCHES[3:5], least)
        (folder / "least.json").write_text("[" + ",\n ".join(map(json.dumps, found)) + "]\n", encoding="utf-8")
    if name in FEWER:
        fewer = {"max_new_tokens": FEWER[name], "max_length": None}
        found = _searched(double, random, SEARCHES[:3], fewer)
        (folder / "fewer.json").write_text("[" + ",\n ".join(map(json.dumps, found)) + "]\n", encoding="utf-8")


def config_class(model_class: Any, name: str) -> Any:
    """Of the models of a name."""
    return getattr(transformers, OF_LLAMA[name]) if name in OF_LLAMA else model_class.config_class


def _weigh_words(model: Any, name: str) -> None:
    has_own = name.startswith(("encoder-decoder/", "t5gemma/"))  # the others have words in common
    reads = model.get_decoder() if has_own else model
    words = reads.get_input_embeddings().weight
    with torch.no_grad():
        if name in SPECIAL or name.endswith("/ends"):  # that some texts end
            words[model.config.eos_token_id] *= 2
        if name in SMALL_WORDS:
            words *= 0.25
        if name == "t5gemma/texts":  # that few bytes are written, which make no text
            words[-256:] *= 0.125
        if name == "m2m_100/languages":  # that few of them are written, and none that has no token
            words[len(VOCABULARY) :] *= 0.125


def _age(folder: Path, name: str) -> None:
    if name in ("qwen3/texts", "smollm3/own"):
        _configure(folder, {}, without=("layer_types",))  # which layers have a window follows from other keys
    if name in ("pegasus/texts", "fsmt/own"):
        without_positions(folder)  # as older files
    if name == "t5/untied":  # as 1.1 says it
        _configure(folder, {"tie_word_embeddings": False}, without=("scale_decoder_outputs",))
    if name == "llava/whole":  # whose texts say it
        _configure(folder, {}, without=("tie_word_embeddings",))
    if name in ("gemma3/whole", "mistral3/whole"):  # as published ones, of which one is not tied all the same
        _configure(folder, {"text_config": VARIANTS[name][1]["text_config"]}, without=("tie_word_embeddings",))


def without_positions(folder: Path) -> None:
    """Takes the tables out of a file: the class computes them then."""
    path = folder / "model.safetensors"
    kept = {key: value for key, value in load_file(path).items() if "embed_positions" not in key}
    save_file(kept, path, {"format": "pt"})


def _begin(model: Any, source: torch.Tensor) -> int:
    """Tokens that a target begins with."""
    if not model.config.is_encoder_decoder:
        return source.shape[1]
    return 1 if model.generation_config.forced_bos_token_id is None else 2


def _searched(model: Any, random: np.random.Generator, searches: Any = SEARCHES, more: Any = None) -> list[Any]:
    """[ids, beams, length_penalty, early_stopping, written, score] of each search and text; null for what the folder
    says itself."""
    found = []
    for beams, penalty, early in searches:
        for length in (1, 6):
            ids = random.integers(3, model.config.vocab_size, length).tolist()
            source = torch.tensor([ids])
            begin = _begin(model, source)
            options: dict[str, Any] = {"num_beams": beams, "length_penalty": penalty, "early_stopping": early}
            options |= {"max_length": begin + MAX_TARGET, "max_new_tokens": None, "do_sample": False}
            options = {} if beams is None else options
            options |= (more or {}) | {"return_dict_in_generate": True, "output_scores": True}
            with torch.inference_mode(), unrounded(model):
                result = model.generate(source, attention_mask=torch.ones_like(source), **options)
            score = float(f"{float(result.sequences_scores[0]):.9g}")
            found.append([ids, beams, penalty, early, result.sequences[0].tolist()[begin:], score])
    return found


def _configure(folder: Path, changes: dict[str, Any], without: tuple[str, ...]) -> None:
    values = json.loads((folder / "config.json").read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in values.items() if key not in without}
    (folder / "config.json").write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def _translated(model: Any, tokenizer: Any, prompt: str) -> dict[str, Any]:
    """What is written for a text, which is cut where it is longer than the tokenizer's limit."""
    ids = tokenizer(prompt, truncation=True)["input_ids"]
    written, logits = _written(model, torch.tensor([ids]))
    text = tokenizer.decode(written, skip_special_tokens=True)
    return {"prompt": prompt, "ids": ids, "written": written, "text": text, "margin": _margin(logits)}


def _margin(logits: np.ndarray) -> float:
    """By how much the best token is better than the next, of all steps."""
    best = np.sort(logits, axis=1)
    return round(float((best[:, -1] - best[:, -2]).min()), 6)


def _gone_on_with(model: Any, tokenizer: Any, prompt: str) -> dict[str, Any]:
    """What follows a prompt, as the library's pipeline has it: its text is that of all ids without the prompt's. A
    prompt that leaves no room for it is cut."""
    room = model.config.max_position_embeddings - MAX_TARGET + 1
    ids = tokenizer(prompt, truncation=True, max_length=room)["input_ids"]
    read = ids or [model.config.bos_token_id]
    written, logits = _written(model, torch.tensor([read]))
    before, whole = (tokenizer.decode(of, skip_special_tokens=True) for of in (read, read + written))
    return {"prompt": prompt, "ids": ids, "written": written, "text": whole[len(before) :], "margin": _margin(logits)}


def _written(model: Any, source: torch.Tensor) -> tuple[list[int], np.ndarray]:
    """The tokens behind what the target begins with, and the logits of each step."""
    begin = _begin(model, source)
    options: dict[str, Any] = {"num_beams": 1, "do_sample": False}
    options |= {"max_length": begin + MAX_TARGET, "max_new_tokens": None}
    mask = torch.ones_like(source)
    with torch.inference_mode(), unrounded(model):
        whole = model.generate(source, attention_mask=mask, **options)[0].tolist()
        if model.config.is_encoder_decoder:
            # FSMT with caches takes all that it is given for what comes before a token.
            logits = model(input_ids=source, decoder_input_ids=torch.tensor([whole[:-1]]), use_cache=False).logits[0]
        else:
            logits = model(input_ids=torch.tensor([whole[:-1]])).logits[0]
    return whole[begin:], logits[begin - 1 :].numpy()


def check_installed() -> None:
    """Ends the program where other versions are installed."""
    record_cases.check_installed(PINNED)


def main() -> None:
    """Records all variants."""
    parser = argparse.ArgumentParser(description="Records what pinned libraries write.")
    parser.add_argument("variants", nargs="*", metavar="VARIANT", default=list(VARIANTS))
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR")
    arguments = parser.parse_args()
    check_installed()
    for name in arguments.variants:
        folder = arguments.out / name
        folder.mkdir(parents=True, exist_ok=True)
        record(folder, name, zlib.crc32(name.encode()) % 10_000)
        for file in folder.glob("*.safetensors"):
            file.chmod(0o644)  # its writer leaves 0600


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
