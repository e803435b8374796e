// SPDX-License-Identifier: Apache-2.0
// From the section headers of the program as it lies in memory, where the loader left them.
#include "../commands/linked_file.hpp"

#include <windows.h>

namespace etch::cli {

std::optional<LinkedFile> measure_linked_file() {
    const auto* const begin = reinterpret_cast<const unsigned char*>(GetModuleHandleW(nullptr));
    const auto* const file = reinterpret_cast<const IMAGE_DOS_HEADER*>(begin);
    const auto* const headers = reinterpret_cast<const IMAGE_NT_HEADERS*>(begin + file->e_lfanew);
    const IMAGE_SECTION_HEADER* const sections = IMAGE_FIRST_SECTION(headers);
    LinkedFile sizes = {};
    for (unsigned i = 0; i < headers->FileHeader.NumberOfSections; ++i) {
        const IMAGE_SECTION_HEADER& section = sections[i];
        constexpr DWORD kFromFile = IMAGE_SCN_CNT_CODE | IMAGE_SCN_CNT_INITIALIZED_DATA;
        if ((section.Characteristics & kFromFile) == 0 ||
            (section.Characteristics & IMAGE_SCN_MEM_DISCARDABLE) != 0) {  // for debuggers
            continue;
        }
        std::size_t& size = (section.Characteristics & IMAGE_SCN_MEM_EXECUTE) != 0 ? sizes.instructions
                            : (section.Characteristics & IMAGE_SCN_MEM_WRITE) != 0 ? sizes.writable
                                                                                   : sizes.read_only;
        size += section.Misc.VirtualSize;
    }
    return sizes;
}

}  // namespace etch::cli
