# SPDX-License-Identifier: Apache-2.0
"""The tokenizer of a checkpoint folder as other libraries read it, unlike `TokenizerSpec.json`, which is what etch
understood of the folder."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import tokenizers
from tokenizers import Tokenizer

from ..errors import printable
from ..ir.template_spec import Template
from ..load.files import CheckpointFolder
from ..load.sentence import static_path
from ..load.tokenizer_files.languages import Languages, json_reading
from ..load.tokenizer_files.tokenizer_json.fields import FILE
from .wheel_tokenizer import WheelTokenizer, set_length


@dataclass(frozen=True)
class OwnTokenizer:
    """Texts are cut at the model's tokens, and padded where it reads that."""

    tokenizer: WheelTokenizer
    read_by: str  # which library of which version read what


def own_tokenizer(
    folder: Path, max_tokens: int, template: Template, languages: Languages | None = None
) -> OwnTokenizer | str:
    """Read by `transformers` where it is installed, which asks all files of the folder, else by `tokenizers`, which
    asks tokenizer.json only; or why there is none. `template` says how texts are cut and padded; they are in the first
    of `languages` where these are asked for."""
    try:
        found = _read(folder, None if languages is None else languages[0])
    except Exception as error:  # whatever a foreign library raises
        return f"its library cannot read it: {printable(str(error)[:200])}"
    if isinstance(found, OwnTokenizer):
        assert isinstance(found.tokenizer, Tokenizer)
        found.tokenizer.no_padding()
        set_length(found.tokenizer, max_tokens, template)
    return found


def _read(folder: Path, language: str | None) -> OwnTokenizer | str:
    version = f"tokenizers {tokenizers.__version__}"
    static = static_path(CheckpointFolder(folder))
    if static is not None:  # sentence-transformers asks tokenizer.json alone, and for no special tokens
        alone = Tokenizer.from_file(str(folder / static / FILE))
        alone.post_processor = None
        return OwnTokenizer(alone, f"{version} from {FILE}, without special tokens")
    if importlib.util.find_spec("transformers") is not None:
        import transformers

        said = {} if language is None else {"src_lang": language}
        loaded = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, **said)
        found = getattr(loaded, "backend_tokenizer", None)
        if not isinstance(found, Tokenizer):
            return f"{type(loaded).__name__} of transformers does not use tokenizers"
        return OwnTokenizer(found, f"transformers {transformers.__version__}, {version}")
    if not (folder / FILE).is_file():
        return f"the folder has no {FILE}, and transformers is not installed"
    if language is None:
        return OwnTokenizer(Tokenizer.from_file(str(folder / FILE)), f"{version} from {FILE}")
    text = json_reading((folder / FILE).read_text(encoding="utf-8"), language)
    return OwnTokenizer(Tokenizer.from_str(text), f"{version} from {FILE}, for texts in {language}")
