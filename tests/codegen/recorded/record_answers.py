# SPDX-License-Identifier: Apache-2.0
"""Records what the question-answering pipeline makes of texts, with the checkpoints that `record.py` wrote.

    python tests/codegen/recorded/record_answers.py [--out DIR] [answers/VARIANT ...]

Needs transformers 4.57.1, of the last line that has the pipeline, beside the PyTorch of `record.py`. The pipeline is
run as it is; only questions that it refuses as too long are left out.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import json
import os
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PINNED = "4.57.1"
QUESTIONS = ("what cats", "the dog?", "is [SEP] up")
CONTEXTS = (
    "the cat sat on the mat, unable to play",
    "Playing cats in Berlin: dogs of Caf\u00e9 zzz",
    "zzz",
    "what 33 news [SEP] is up-up dogs playing playing",
    "e\u0301 cafe\u0301 \u0130 \u4e2d\u56fd \U0001f389 how\u200bis the oil price",
    "  cats  dogs\t\n unable  CATS cats Cats",
    "the cat and dogs " * 12 + "cat",
    "Unable, playing: dogs\u2019 Caf\u00e9; " * 9,
)
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"top_k": 4},
    {"top_k": 3, "handle_impossible_answer": True, "max_answer_len": 3},
    {"top_k": 2, "align_to_words": False, "doc_stride": 3},
)

SPECIALS = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}  # if not in a file


def main() -> None:
    """Records the variants named, or all."""
    import transformers

    parser = argparse.ArgumentParser(description="Records what the question-answering pipeline answers.")
    parser.add_argument("variants", nargs="*", metavar="answers/VARIANT")
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR")
    arguments = parser.parse_args()
    if transformers.__version__ != PINNED:
        raise SystemExit(f"transformers {transformers.__version__} is installed, {PINNED} is needed")
    folders = sorted(arguments.out.glob("answers/*/config.json"))
    for variant in arguments.variants or [f"answers/{path.parent.name}" for path in folders]:
        lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in _by_pipeline(arguments.out / variant))
        (arguments.out / variant / "pipeline.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        print(f"{variant}: {lines.count(chr(10)) + 1} contexts", flush=True)


def _tokenizer(folder: Path) -> Any:
    """As its tokenizer.json says, where there is one: the classes of this `transformers` would make another of it."""
    import transformers

    if not (folder / "tokenizer.json").exists():
        return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    added = {token["content"] for token in json.loads((folder / "tokenizer.json").read_text("utf-8"))["added_tokens"]}
    names = {key: name for key, usual in SPECIALS.items() if (name := settings.get(key, usual)) in added}
    names["model_max_length"] = settings["model_max_length"]
    usual = ("token_type_ids",) if settings["tokenizer_class"] == "FNetTokenizer" else ()
    segments = "token_type_ids" in settings.get("model_input_names", usual)
    inputs = ["input_ids", *(["token_type_ids"] if segments else []), "attention_mask"]
    file = str(folder / "tokenizer.json")
    return transformers.PreTrainedTokenizerFast(tokenizer_file=file, model_input_names=inputs, **names)


def _by_pipeline(folder: Path) -> list[dict[str, Any]]:
    """Of each question and context: settings, and score and characters [start, end) of the answers with them."""
    import transformers

    tokenizer = _tokenizer(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(
        folder, dtype="float32", attn_implementation="eager", local_files_only=True
    )
    if "token_type_ids" not in inspect.signature(model.forward).parameters:
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    if "attention_mask" not in inspect.signature(model.forward).parameters:
        tokenizer.model_input_names = ["input_ids", "token_type_ids"]
    # Without a mask the padding of several windows of a context counts: the pipeline's own.
    contexts = CONTEXTS if "attention_mask" in tokenizer.model_input_names else CONTEXTS[:-2]
    ask = transformers.pipeline("question-answering", model=model.eval(), tokenizer=tokenizer)
    found = []
    for question, context in itertools.product(QUESTIONS, contexts):
        asked = []
        for settings in SETTINGS:
            try:
                answers = ask(question=question, context=context, **settings)
            except BaseException as error:
                print(f"  {folder.name}: left out: {type(error).__name__} {error}"[:100])
                continue
            listed = answers if isinstance(answers, list) else [answers]
            assert all(a["answer"] == context[a["start"] : a["end"]] for a in listed)
            asked.append([settings, [[float(f"{a['score']:.6g}"), int(a["start"]), int(a["end"])] for a in listed]])
        if asked:
            found.append({"question": question, "context": context, "asked": asked})
    return found


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
