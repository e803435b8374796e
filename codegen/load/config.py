# SPDX-License-Identifier: Apache-2.0
"""config.json behind typed getters, so that a wrong value is refused where it is read, by its name.

A key that is absent takes the default that the caller gives; `null` is not absent and is refused like any wrong type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .labels import read_labels
from .refusal import kind, refusal, shown

FILE = "config.json"
_WITHOUT_HEAD = ("Model", "BertGenerationEncoder")  # endings of classes
XLM_MASKED = "WithLMHeadModel"  # which is no bare model
PROBLEM_TYPES = ("regression", "single_label_classification", "multi_label_classification")
_MAX_INT = (1 << 31) - 1


class Asked(Mapping[str, Any]):
    """The values of a file; remembers which keys anybody has asked for."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._asked: set[str] = set()

    def not_asked(self) -> dict[str, Any]:
        """What nobody has asked for so far."""
        return {key: value for key, value in self._values.items() if key not in self._asked}

    def changed(self, key: str, value: Any) -> Asked:
        """With another value. What is asked of one counts for both: a note on keys may be of either."""
        other = Asked({**self._values, key: value})
        other._asked = self._asked
        other._asked.add(key)
        return other

    def __getitem__(self, key: str) -> Any:
        self._asked.add(key)
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        self._asked.add(str(key))
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@dataclass(frozen=True)
class Config:
    """A parsed configuration file."""

    values: Asked
    file: str = FILE
    usual_labels: int = 2  # as in transformers; some families have another number
    embeds: bool = False  # whether sentence-transformers makes embeddings of the rows
    cross_encoder: str | None = None  # the function that a CrossEncoder's own settings name

    @classmethod
    def from_json(cls, values: dict[str, Any], file: str = FILE) -> Config:
        """Wrap `values`; a pipeline of the checkpoint's own is refused at once."""
        if "custom_pipelines" in values:
            message = "'custom_pipelines' asks for code that comes with the checkpoint, which is never run"
            raise refusal("remote-code", message, file=file)
        config = cls(Asked(values), file)
        if not isinstance(values.get("auto_map", {}), dict):
            raise config._wrong("auto_map", "an object", values["auto_map"])
        return config

    def __contains__(self, key: object) -> bool:
        return key in self.values

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        value = self._get(key, default)
        if not isinstance(value, str):
            raise self._wrong(key, "a string", value)
        return value

    def positive_int(self, key: str, default: int | None = None, maximum: int = _MAX_INT) -> int:
        """An integer in 1..maximum."""
        return self._int(key, default, 1, maximum)

    def natural_int(self, key: str, default: int | None = None, maximum: int = _MAX_INT) -> int:
        """An integer in 0..maximum."""
        return self._int(key, default, 0, maximum)

    def number(self, key: str, default: float | None = None) -> float:
        """An integer or a fraction, as a float; finite, since the parser refuses the others."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(key, "a number", value)
        return float(value)

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true/false", value)
        return value

    def strings(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of strings."""
        value = self._get(key, default)
        if not isinstance(value, (list, tuple)):
            raise self._wrong(key, "a list of strings", value)
        for item in value:
            if not isinstance(item, str):
                raise self._wrong(key, "a list of strings", item)
        return tuple(value)

    @property
    def model_type(self) -> str:
        """The family, as `bert`."""
        return self.text("model_type")

    @property
    def architectures(self) -> tuple[str, ...]:
        """The classes the checkpoint was saved from; empty where the file does not say."""
        return () if self.values.get("architectures") is None else self.strings("architectures")

    @property
    def has_head(self) -> bool:
        """Whether a class that the file names is more than an encoder, as far as its name says."""
        return not all(name.endswith(_WITHOUT_HEAD) and not name.endswith(XLM_MASKED) for name in self.architectures)

    @property
    def problem_type(self) -> str | None:
        """One of `PROBLEM_TYPES`, or None where the file does not say."""
        value = self.values.get("problem_type")
        if value is not None and value not in PROBLEM_TYPES:
            raise refusal(
                "config-value",
                f"'problem_type' must be one of {', '.join(PROBLEM_TYPES)}, got {shown(value)}",
                file=self.file,
            )
        return value

    @property
    def brings_code(self) -> bool:
        """Whether classes of the checkpoint's own are named. `transformers` runs them where it is told to trust them;
        else it takes its own of the model type (`resolve_trust_remote_code`), as etch does."""
        return bool(self.values.get("auto_map"))

    @property
    def own_classes(self) -> tuple[str, ...]:
        """Those classes of models, as the file names them: `REPOSITORY--FILE.CLASS` or `FILE.CLASS`."""
        named = self.values.get("auto_map") or {}
        return tuple(name for key, name in named.items() if key.startswith("AutoModel") and isinstance(name, str))

    def labels(self) -> tuple[str, ...]:
        """The names of the outputs, by index; `LABEL_0`… where the file has none. A label may be the empty string."""
        return read_labels(self.values, self.file, self.usual_labels)[0]

    def notes(self) -> tuple[str, ...]:
        """What was assumed because the file does not say it."""
        return read_labels(self.values, self.file, self.usual_labels)[1]

    def code_notes(self) -> tuple[str, ...]:
        """That the checkpoint's own classes are not those that are computed."""
        if not self.brings_code:
            return ()
        return (
            f"{self.file} names code that comes with the checkpoint (auto_map): never run, read as {self.model_type}",
        )

    def _int(self, key: str, default: int | None, minimum: int, maximum: int) -> int:
        value = self._get(key, default)
        if type(value) is not int:
            raise self._wrong(key, "an integer", value)
        if not minimum <= value <= maximum:
            expected = f"{minimum}..{maximum}"
            raise refusal("config-out-of-range", f"'{key}' must be in {expected}, got {shown(value)}", file=self.file)
        return value

    def _get(self, key: str, default: object) -> object:
        if key in self.values:
            return self.values[key]
        if default is None:
            raise refusal("config-missing", f"'{key}' is missing", file=self.file)
        return default

    def _wrong(self, key: str, expected: str, value: object) -> Exception:
        return refusal("config-type", f"'{key}' must be {expected}, got {kind(value)}: {shown(value)}", file=self.file)


def is_neutral(value: object, neutral: Iterable[object]) -> bool:
    """Whether a key has one of these values, which change nothing; to Python 1 is True as well, to a library it may
    not be."""
    return any(value == usual and type(value) is type(usual) for usual in neutral)
