// SPDX-License-Identifier: Apache-2.0
// From the section headers of the program's ELF file.
#include "../commands/linked_file.hpp"

#include <elf.h>
#include <link.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace etch::cli {
namespace {

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::optional<LinkedFile> measure_linked_file() {
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen("/proc/self/exe", "rb"));
    Header header = {};
    if (!file || std::fread(&header, sizeof header, 1, file.get()) != 1 ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(Section) ||
        header.e_shnum == 0 || std::fseek(file.get(), static_cast<long>(header.e_shoff), SEEK_SET) != 0) {
        return std::nullopt;
    }
    std::vector<Section> sections(header.e_shnum);
    if (std::fread(sections.data(), sizeof sections[0], sections.size(), file.get()) != sections.size()) {
        return std::nullopt;
    }
    LinkedFile sizes = {};
    for (const Section& section : sections) {
        if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_type == SHT_NOBITS) {
            continue;
        }
        std::size_t& size = (section.sh_flags & SHF_EXECINSTR) != 0 ? sizes.instructions
                            : (section.sh_flags & SHF_WRITE) != 0   ? sizes.writable
                                                                    : sizes.read_only;
        size += section.sh_size;
    }
    return sizes;
}

}  // namespace etch::cli
