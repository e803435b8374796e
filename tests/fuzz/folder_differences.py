# SPDX-License-Identifier: Apache-2.0
"""Folders of tokenizer files, changed at random: what etch accepts, `transformers` must tokenize the same way.

    python3 tests/fuzz/folder_differences.py [--folders N] [--seed S] [--record FILE | --apart KINDS]

Needs `transformers` (and its `sentencepiece` and `protobuf`) and pytest. A folder that etch refuses is no finding, nor
is one that `transformers` cannot read, nor one of which etch says that a part is another one; a folder that both read,
with other ids or segments for any of the texts, is. With --record some folders of each outcome are
written down, for test_folder_differences.py to repeat without `transformers`. Exit codes: 0 without a finding, 1 with
one.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(ROOT),
    *(str(Path(__file__).parents[1] / name) for name in ("", "codegen", "codegen/load", "end_to_end/tokenizer")),
]

from byte_level import small_json  # noqa: E402
from encoder_folders import encoder_folders  # noqa: E402
from fairseq_folders import fairseq_folders  # noqa: E402
from folder_edits import Files, edit  # noqa: E402
from herbert_files import gpt_folders, herbert_folders  # noqa: E402
from moses_folders import moses_folders  # noqa: E402
from sentencepiece_folders import sentencepiece_folders  # noqa: E402
from step_folders import step_folders  # noqa: E402
from tiny_checkpoint import DEFAULT_VOCAB, tokenizer_json  # noqa: E402
from writer_folders import writer_folders  # noqa: E402

from codegen.errors import EtchError  # noqa: E402
from codegen.ir.tokenizer_spec import TokenizerSpec  # noqa: E402
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer  # noqa: E402
from codegen.load.config import Config  # noqa: E402
from codegen.load.files import CheckpointFolder  # noqa: E402
from codegen.load.limits import Limits  # noqa: E402
from codegen.load.tokenizer_files.text_tokenizers import load_text_tokenizers  # noqa: E402
from codegen.load.tokenizer_files.tokenizer import load_tokenizer  # noqa: E402

TEXTS = (
    "The cat sat on the mat.",
    "Café [MASK] <mask> 中国 x\u200by  [SEP]</s>Berlin",
    "  the dog's  unworkable, plays! [CLS]<s> 12",
    "new_token the <new> cat <0> İ ß <1><2> <3> x",
    "a" * 101 + " xy",
    "the cat\nsat \n on\n<mask> mat\n",
    "",
)
# Of kinds that are not recorded, more of their special tokens and of characters at the ends of Unicode.
TEXTS_APART = (*TEXTS[:-1], "[QUESTION] the \ue003 dog \ue000 \ue003\U0010ffff \u00e9\x00", "e\u0301", "\ue003", "")
RECORDED_SAME, RECORDED_REFUSALS = 400, 8  # folders; of each code
_USUAL_CLASSES = {
    "bert": "BertTokenizer",
    "bert-generation": "BertGenerationTokenizer",
    "biogpt": "BioGptTokenizer",
    "canine": "CanineTokenizer",
    "flaubert": "FlaubertTokenizer",
    "fsmt": "FSMTTokenizer",
    "xlm": "XLMTokenizer",
    "roberta": "RobertaTokenizer",
    "mpnet": "MPNetTokenizer",
    "splinter": "SplinterTokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
    "camembert": "CamembertTokenizer",
    "albert": "AlbertTokenizer",
    "fnet": "FNetTokenizer",
    "deberta": "DebertaTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
    "t5": "T5Tokenizer",
    "llama": "TokenizersBackend",
    "gemma": "GemmaTokenizer",
    "gpt2": "GPT2Tokenizer",
    "openai-gpt": "OpenAIGPTTokenizer",
    "cohere": "CohereTokenizer",
    "qwen2": "Qwen2Tokenizer",
    "m2m_100": "M2M100Tokenizer",
    "mbart": "MBartTokenizer",
    "marian": "MarianTokenizer",
    "pegasus": "PegasusTokenizer",
}
_AS_DEBERTA = {"<s>": "[CLS]", "</s>": "[SEP]", "<pad>": "[PAD]", "<unk>": "[UNK]", "<mask>": "[MASK]"}
_TRANSLATORS = ("marian", "m2m_100")  # whose folders are asked for what is written, too
# Whose words `sacremoses` finds, which others need not have; CANINE's, whose library lists all of Unicode for each.
APART: dict[str, Callable[[], dict[str, Files]]] = {"moses": moses_folders, "encoders": encoder_folders}
NOTED = "a note says so"  # of a part that `transformers` makes otherwise
VOCABULARY = 1 << 21  # rows of an embedding that no id reaches


def bases() -> dict[str, Files]:
    """Folders as models have them."""
    bert, roberta = tokenizer_json(list(DEFAULT_VOCAB)), small_json()
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in roberta["model"]["merges"]]
    deberta = _as_deberta(small_json(processor="TemplateProcessing"))
    deberta_files = _as_deberta(
        {"vocab.json": roberta["model"]["vocab"], "merges.txt": "\n".join(["#version: 0.2", *merges, ""])}
    )
    bert_config = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    roberta_files = {"vocab.json": roberta["model"]["vocab"], "merges.txt": "\n".join(["#version: 0.2", *merges, ""])}
    mpnet = ["<s>", "<pad>", "</s>", "[UNK]", *DEFAULT_VOCAB[5:], "<mask>"]
    found: dict[str, Files] = {
        "bert": {"tokenizer.json": bert, "tokenizer_config.json": bert_config},
        "bert, no configuration": {"tokenizer.json": bert},
        "bert, as in json": {
            "tokenizer.json": bert,
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
        },
        "vocab.txt": {"vocab.txt": "\n".join([*DEFAULT_VOCAB, ""]), "tokenizer_config.json": bert_config},
        "both": {
            "tokenizer.json": bert,
            "vocab.txt": "\n".join([*DEFAULT_VOCAB, ""]),
            "tokenizer_config.json": bert_config,
        },
        "mpnet": {
            "vocab.txt": "\n".join([*mpnet, ""]),
            "tokenizer_config.json": {"tokenizer_class": "MPNetTokenizer", "do_lower_case": True},
        },
        "roberta": {"tokenizer.json": roberta, "tokenizer_config.json": {"tokenizer_class": "RobertaTokenizer"}},
        "roberta, as in json": {
            "tokenizer.json": small_json(processor="TemplateProcessing", add_prefix_space=True),
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
        },
        "llama 3": {
            "tokenizer.json": small_json(segmenter="llama3", processor="Sequence", ignore_merges=True),
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
        },
        "qwen2": {
            "tokenizer.json": small_json(segmenter="qwen2", processor="ByteLevel", steps=("NFC",)),
            "tokenizer_config.json": {
                "tokenizer_class": "Qwen2Tokenizer",
                **dict.fromkeys(("bos_token", "unk_token")),
                **dict.fromkeys(("eos_token", "pad_token"), "</s>"),
            },
        },
        "qwen2, merges.txt": {**roberta_files, "tokenizer_config.json": {"tokenizer_class": "Qwen2Tokenizer"}},
        "deberta": {"tokenizer.json": deberta, "tokenizer_config.json": {"tokenizer_class": "DebertaTokenizer"}},
        "deberta, merges.txt": {**deberta_files, "tokenizer_config.json": {"do_lower_case": False}},
        "merges.txt": {**roberta_files, "tokenizer_config.json": {"tokenizer_class": "RobertaTokenizer"}},
        "merges.txt, no configuration": dict(roberta_files),
    }
    for name, files in found.items():
        byte_level = "merges.txt" in files or "merges" in files.get("tokenizer.json", {}).get("model", {})
        family = "roberta" if byte_level else "mpnet" if name == "mpnet" else "bert"
        family = next((other for other in ("qwen2", "deberta") if name.startswith(other)), family)
        files["config.json"] = {"model_type": family}
    found |= sentencepiece_folders() | step_folders() | writer_folders() | fairseq_folders()
    found |= herbert_folders() | gpt_folders()
    return _with_rows(found)


def _with_rows(found: dict[str, Files]) -> dict[str, Files]:
    for files in found.values():
        files["config.json"]["vocab_size"] = VOCABULARY
    return found


def _as_deberta(files: Files) -> Files:
    """The same with its special tokens."""
    text = json.dumps(files)
    for theirs, name in _AS_DEBERTA.items():
        text = text.replace(json.dumps(theirs), json.dumps(name))
    return json.loads(text)


def write(files: Files, folder: Path) -> None:
    for name, content in files.items():
        text = content if isinstance(content, (str, bytes)) else json.dumps(content, ensure_ascii=False)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def pairs_of(texts: Sequence[str]) -> list[tuple[str, str]]:
    """An empty second text is none for `transformers`, though its own template has one."""
    return [(first, second) for first, second in pairwise(texts) if second]


def ours(folder: Path, files: Files, texts: Sequence[str] = TEXTS) -> list[Any] | str:
    """Ids and segments of every text and pair; or the code of the refusal, or NOTED."""
    config = files["config.json"]
    usual = _USUAL_CLASSES.get(config.get("model_type"))
    if usual is None:
        return "unsupported-model-type"
    try:
        spec = _source(folder, config, usual)
    except EtchError as error:
        return error.code
    if any(note.endswith("counts") for note in spec.notes):
        return NOTED
    tokenizer = wheel_tokenizer(spec)
    segments = [part.segment for part in spec.template.pair if part.content in ("A", "B")]
    answers: list[Any] = [tokenizer.encode(text).ids for text in texts]
    for pair in pairs_of(texts):
        encoding = tokenizer.encode(*pair)
        in_text = [segments[which] for which in encoding.sequence_ids if which is not None]
        answers.append([encoding.ids, in_text])
    return answers


def _source(folder: Path, config: dict[str, Any], usual: str) -> TokenizerSpec:
    """Of what the model reads."""
    files = CheckpointFolder(folder)
    if config["model_type"] in _TRANSLATORS:
        limits = Limits(8, VOCABULARY, 64, "positions", usual, writes_texts=True)
        return load_text_tokenizers(files, Config.from_json(config), limits).source
    return load_tokenizer(files, VOCABULARY, config.get("tokenizer_class"), usual)


def theirs(folder: Path, texts: Sequence[str] = TEXTS) -> list[Any] | str:
    """The same of `transformers`; or which error it raises."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        answers: list[Any] = [tokenizer(text)["input_ids"] for text in texts]
        for pair in pairs_of(texts):
            encoding = tokenizer(*pair)
            ids = encoding["input_ids"]
            segments = encoding.get("token_type_ids", [0] * len(ids))
            if tokenizer.is_fast:
                which = encoding.sequence_ids()
                in_text = [s for s, w in zip(segments, which, strict=True) if w is not None]
            else:  # of one segment
                in_text = segments[: len(ids) - tokenizer.num_special_tokens_to_add(pair=True)]
            answers.append([ids, in_text])
    except Exception as error:
        return type(error).__name__
    return answers


def folders(seed: int, count: int, apart: str | None = None) -> Iterator[tuple[str, Files]]:
    """(what was changed, the files), every kind of folder in turn; of those that are not recorded the ones of a name
    of APART."""
    source = random.Random(seed)
    kinds = bases() if apart is None else _with_rows(APART[apart]())
    names = list(kinds)
    for i in range(count):
        name = names[i % len(names)]
        files = copy.deepcopy(kinds[name])
        changes = [edit(source, files) for _ in range(source.choice((0, 1, 1, 1, 2, 2, 3)))]
        files.setdefault("config.json", {"model_type": "bert"})
        yield f"{name}: {'; '.join(changes)}", files


def sha256(answers: list[Any]) -> str:
    return hashlib.sha256(json.dumps(answers).encode()).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folders", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--apart", choices=APART, help="kinds of folders that are not recorded")
    arguments = parser.parse_args()
    if arguments.record and arguments.apart:
        parser.error("--apart: such folders are not recorded")
    texts = TEXTS if arguments.apart is None else TEXTS_APART
    outcomes: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    recorded: list[dict[str, Any]] = []
    findings = 0
    for number, (what, files) in enumerate(folders(arguments.seed, arguments.folders, arguments.apart)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(files, folder)
            try:
                our = ours(folder, files, texts)
            except Exception as error:  # only a refusal is an answer
                our = [f"{type(error).__name__}: {error}"]
            if isinstance(our, str):
                outcomes["noted" if our == NOTED else "refused"] += 1
                refusals[our] += 1
                if refusals[our] <= RECORDED_REFUSALS:
                    recorded.append({"seed": arguments.seed, "folder": number, "what": what, "refused": our})
                continue
            their = theirs(folder, texts)
        if isinstance(their, str) and len(our) > 1:
            outcomes["read by etch only"] += 1
        elif our == their:
            outcomes["the same"] += 1
            if outcomes["the same"] <= RECORDED_SAME:
                recorded.append({"seed": arguments.seed, "folder": number, "what": what, "ids": sha256(our)})
        else:
            outcomes["different"] += 1
            findings += 1
            print(f"different: {what}{f' ({our[0]})' if len(our) == 1 else ''}", flush=True)
    if arguments.record is not None:
        arguments.record.write_text(json.dumps(recorded, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(", ".join(f"{count} {name}" for name, count in sorted(outcomes.items())))
    print("refused: " + ", ".join(f"{count} {code}" for code, count in refusals.most_common()))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
