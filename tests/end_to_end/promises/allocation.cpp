// SPDX-License-Identifier: Apache-2.0
// allocation COUNT [--allocate]
//
// Classifies COUNT texts while every function that could give memory ends the program with exit code 3: malloc and its
// relatives, operator new, mmap, sbrk. With --allocate it allocates once itself: the trap must close.
#include <unistd.h>

#include <agnews.hpp>
#include <cstdlib>
#include <cstring>
#include <new>

#include "texts.hpp"

namespace {

bool armed = false;

// Before main() the C library may want memory; it gets some of this, and none back.
alignas(16) unsigned char pool[1 << 20];
std::size_t used = 0;

void* give(std::size_t bytes) {
    if (armed) {
        constexpr char kMessage[] = "an allocation during inference\n";
        static_cast<void>(!write(2, kMessage, sizeof kMessage - 1));
        _exit(3);
    }
    const std::size_t begin = used;
    used += (bytes + 15) / 16 * 16;
    return used <= sizeof pool ? pool + begin : nullptr;
}

}  // namespace

extern "C" {
void* malloc(std::size_t bytes) noexcept {
    return give(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
    return give(count * bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
    void* fresh = give(bytes);
    if (old != nullptr && fresh != nullptr) std::memmove(fresh, old, bytes);  // reads on into the pool: harmless
    return fresh;
}
void* aligned_alloc(std::size_t, std::size_t bytes) noexcept {
    return give(bytes);
}
int posix_memalign(void** out, std::size_t, std::size_t bytes) noexcept {
    *out = give(bytes);
    return 0;
}
void free(void*) noexcept {
    if (armed) give(0);
}
void* mmap(void*, std::size_t bytes, int, int, int, off_t) noexcept {
    return give(bytes);
}
void* sbrk(std::intptr_t) noexcept {
    return give(0);
}
}

void* operator new(std::size_t bytes) {
    return give(bytes);
}
void* operator new[](std::size_t bytes) {
    return give(bytes);
}
void operator delete(void*) noexcept {
    if (armed) give(0);
}
void operator delete[](void*) noexcept {
    if (armed) give(0);
}
void operator delete(void*, std::size_t) noexcept {
    if (armed) give(0);
}
void operator delete[](void*, std::size_t) noexcept {
    if (armed) give(0);
}

static etch::agnews::Workspace workspace;

int main(int argc, char** argv) {
    using namespace etch;
    if (argc < 2) return 2;
    const long count = std::strtol(argv[1], nullptr, 10);
    agnews::Result result;
    static agnews::Encoding encoding;
    constexpr long kTexts = sizeof promises::kShortTexts / sizeof promises::kShortTexts[0];

    armed = true;
    Status status = Status::ok;
    if (argc > 2 && std::string_view(argv[2]) == "--allocate") {
        int* volatile leaked = new int;
        static_cast<void>(leaked);
    }
    for (long i = 0; i < count && status == Status::ok; ++i) {
        status = agnews::classify(workspace, promises::kShortTexts[i % kTexts], result);
    }
    if (status == Status::ok) status = agnews::classify(workspace, promises::kLongText.view(), result);
    if (status == Status::ok) status = agnews::classify_pair(workspace, "one", promises::kLongText.view(), result);
    if (status == Status::ok) status = agnews::encode(workspace, promises::kLongText.view(), encoding);
    if (status == Status::ok) status = agnews::classify_tokens(workspace, encoding.ids, nullptr, 9, result);
    if (status == Status::ok) status = agnews::begin(workspace, promises::kMiddleText);
    if (status == Status::ok) status = Status::in_progress;
    while (status == Status::in_progress)
        status = agnews::step(workspace, 100'000, result);
    if (status == Status::ok) status = agnews::self_test(workspace);
    armed = false;
    return status == Status::ok ? 0 : 1;
}
