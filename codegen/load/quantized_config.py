# SPDX-License-Identifier: Apache-2.0
"""What config.json says of weights that are quantized already: `etch convert` makes plain ones of those that it knows,
everything else refuses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The keys, of which the second is compressed-tensors' older one.
KEYS = ("quantization_config", "compression_config")
METHODS = ("awq", "bitsandbytes", "compressed-tensors", "fp8", "gptq")


def method_of(settings: object) -> str | None:
    """The `quant_method`, where there is one."""
    method = settings.get("quant_method") if isinstance(settings, Mapping) else None
    return method if isinstance(method, str) else None


def settings_in(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first of the keys that says something."""
    said = (config.get(key) for key in KEYS)
    return next((value for value in said if isinstance(value, dict) and value), None)
