// SPDX-License-Identifier: Apache-2.0
// The constants of this program, of which it has some on purpose, before and after they are put on huge pages.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "etch/hosted.hpp"
#include "lowered_limit.hpp"

// 8 MiB among the constants: every KiB is full of its number.
asm(R"(
    .section .rodata.huge_pages_test, "a"
    .balign 64
    .globl huge_pages_test_constants
    .hidden huge_pages_test_constants
huge_pages_test_constants:
    .set number, 0
    .rept 8192
    .fill 256, 4, number
    .set number, number + 1
    .endr
    .text
)");
extern "C" const std::uint32_t huge_pages_test_constants[];

namespace {

constexpr std::size_t kConstants = std::size_t{8192} * 256;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t wrong_constants() {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kConstants; ++i)
        wrong += huge_pages_test_constants[i] == i / 256 ? 0 : 1;
    return wrong;
}

// What the system says of the memory at `address`: "r--p", and the file's name if it is one's.
struct Mapping {
    std::string access;
    std::string file;
};
Mapping mapping_of(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t first = 0;
        std::uintptr_t last = 0;
        char dash = 0;
        Mapping found;
        std::string skipped;
        std::istringstream words(line);
        words >> std::hex >> first >> dash >> last >> found.access >> skipped >> skipped >> skipped >> found.file;
        if (wanted >= first && wanted < last) return found;
    }
    return {};
}

const std::uint32_t* const kMiddle = huge_pages_test_constants + kConstants / 2;
// Before any test: once the constants have moved nothing takes them back, whichever test comes first.
const Mapping kMappingAtStart = mapping_of(kMiddle);

TEST(HugePages, NoneWhereMemoryCannotBeHad) {
    {
        const LoweredLimit no_memory(RLIMIT_AS, 1);
        EXPECT_EQ(etch::hosted::use_huge_pages(), 0U);
    }
    EXPECT_EQ(wrong_constants(), 0U);
}

TEST(HugePages, ConstantsKeepTheirAddressesAndValues) {
    EXPECT_NE(kMappingAtStart.file, "");
    const std::size_t bytes = etch::hosted::use_huge_pages();
    EXPECT_EQ(wrong_constants(), 0U);
    EXPECT_EQ(mapping_of(kMiddle).access, "r--p");
    if (bytes == 0) GTEST_SKIP() << "this system gives no huge pages";
    EXPECT_EQ(bytes % kHugePage, 0U);
    EXPECT_GE(bytes, kConstants * sizeof(std::uint32_t) - kHugePage);
    EXPECT_EQ(mapping_of(kMiddle).file, "");
}

TEST(HugePages, AsManyTheSecondTime) {
    const std::size_t bytes = etch::hosted::use_huge_pages();
    EXPECT_EQ(etch::hosted::use_huge_pages(), bytes);
    EXPECT_EQ(wrong_constants(), 0U);
}

}  // namespace
