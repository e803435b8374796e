# SPDX-License-Identifier: Apache-2.0
"""Recorders run with the libraries that they pin, and with no others."""

from __future__ import annotations

import pytest
import record_cases


def test_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"torch": "2.15.0+cpu", "numpy": "2.4.6"}
    monkeypatch.setattr(record_cases, "version", installed.__getitem__)
    record_cases.check_installed({"torch": "2.15.0", "numpy": "2.4.6"})
    for package in installed:
        with pytest.raises(SystemExit, match=f"{package} .* is installed, 1.2.3 is needed"):
            record_cases.check_installed({"torch": "2.15.0", "numpy": "2.4.6"} | {package: "1.2.3"})
