# SPDX-License-Identifier: Apache-2.0
"""The first GPU, as its driver describes it: asked directly, so that nothing has to be installed or built for it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

MAJOR, MINOR, PROCESSORS = 75, 76, 16  # CU_DEVICE_ATTRIBUTE_…


class NoDevice(Exception):
    """There is no GPU to check on; the text says why."""


@dataclass(frozen=True)
class Device:
    name: str
    capability: str  # "90" for 9.0
    processors: int
    memory_bytes: int
    driver: str  # the newest CUDA that it can run, "13.0"


def find_device() -> Device:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise NoDevice("there is no NVIDIA driver (libcuda.so.1)") from None

    def call(name: str, *arguments: object) -> None:
        error = getattr(driver, name)(*arguments)
        if error != 0:
            raise NoDevice(f"the NVIDIA driver's {name} reports error {error}")

    version, count, handle = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    call("cuInit", 0)
    call("cuDeviceGetCount", ctypes.byref(count))
    if count.value == 0:
        raise NoDevice("the NVIDIA driver sees no GPU")
    call("cuDriverGetVersion", ctypes.byref(version))
    call("cuDeviceGet", ctypes.byref(handle), 0)
    name, memory = ctypes.create_string_buffer(256), ctypes.c_size_t()
    call("cuDeviceGetName", name, len(name), handle)
    call("cuDeviceTotalMem_v2", ctypes.byref(memory), handle)
    attributes = {}
    for attribute in (MAJOR, MINOR, PROCESSORS):
        value = ctypes.c_int()
        call("cuDeviceGetAttribute", ctypes.byref(value), attribute, handle)
        attributes[attribute] = value.value
    return Device(
        name.value.decode(errors="replace"),
        f"{attributes[MAJOR]}{attributes[MINOR]}",
        attributes[PROCESSORS],
        memory.value,
        f"{version.value // 1000}.{version.value % 1000 // 10}",
    )
