// SPDX-License-Identifier: Apache-2.0
// The files that the program sees under a target: one, with the bytes given, under every path that `known` accepts and
// as standard input. Targets that include this are linked with --wrap=open and --wrap=read.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <string_view>

#include "fuzz.hpp"

namespace etch::fuzz {

struct SystemCalls {
    bool active = false;
    int file = -1;
    std::string_view known;       // the paths that exist, each between two blanks
    std::uint32_t shortness = 0;  // decides how many bytes a read gives, and which reads are interrupted

    // The file's content, from its start, for open() and for standard input.
    void provide(std::string_view bytes) {
        if (file < 0) {
            file = memfd_create("input", MFD_CLOEXEC);
            check(file >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO, "a file in memory can be made");
        }
        check(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0, "it can be emptied");
        std::size_t written = 0;
        while (written < bytes.size()) {
            const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
            check(count > 0, "it can be written");
            written += static_cast<std::size_t>(count);
        }
        check(lseek(file, 0, SEEK_SET) == 0, "it can be rewound");
    }

    bool knows(std::string_view path) const {
        const std::size_t at = path.empty() ? std::string_view::npos : known.find(path);
        return at != std::string_view::npos && at > 0 && known[at - 1] == ' ' && known[at + path.size()] == ' ';
    }
};

inline SystemCalls system_calls;

}  // namespace etch::fuzz

extern "C" {

int __real_open(const char* path, int flags, ...);
ssize_t __real_read(int descriptor, void* bytes, std::size_t size);

// Nothing outside the target is opened, whatever path an input holds.
int __wrap_open(const char* path, int flags, ...) {
    const etch::fuzz::SystemCalls& calls = etch::fuzz::system_calls;
    if (!calls.active) {
        std::va_list arguments;
        va_start(arguments, flags);
        const int mode = va_arg(arguments, int);
        va_end(arguments);
        return __real_open(path, flags, mode);
    }
    if (!calls.knows(path)) {
        errno = ENOENT;
        return -1;
    }
    return dup(calls.file);
}

// As from a pipe: less than asked for, and now and then interrupted.
ssize_t __wrap_read(int descriptor, void* bytes, std::size_t size) {
    etch::fuzz::SystemCalls& calls = etch::fuzz::system_calls;
    if (!calls.active || calls.shortness == 0) {
        return __real_read(descriptor, bytes, size);
    }
    calls.shortness = calls.shortness * 1664525 + 1013904223;  // Numerical Recipes' generator
    if (calls.shortness >> 29 == 0) {
        errno = EINTR;
        return -1;
    }
    const std::size_t most = 1 + (calls.shortness >> 24);
    return __real_read(descriptor, bytes, size < most ? size : most);
}
}
