// SPDX-License-Identifier: Apache-2.0
#include "object_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "failure.hpp"

namespace etch::stack {
namespace {

constexpr std::size_t kRedZone = 128;  // x86-64 System V ABI

// Bounds-checked views of the file. Its byte order is the host's: objects of this build, not cross compiled.
class Elf {
  public:
    explicit Elf(const std::string& path) : path_(path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) throw Failure(path + ": cannot be read");
        bytes_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        header_ = at<Elf64_Ehdr>(0);
        if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64 ||
            header_.e_type != ET_REL || header_.e_shentsize != sizeof(Elf64_Shdr)) {
            fail("not a 64-bit ELF object");
        }
        if (header_.e_machine != EM_X86_64 && header_.e_machine != EM_AARCH64) fail("not x86-64 or AArch64");
        sections_ = array<Elf64_Shdr>(header_.e_shoff, header_.e_shnum);
        for (const Elf64_Shdr& section : sections_) {
            if (section.sh_type == SHT_SYMTAB_SHNDX) fail("more sections than this reader knows of");
            if (section.sh_type != SHT_SYMTAB) continue;
            symbols_ = array<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
            strings_ = section_at(section.sh_link).sh_offset;
        }
        section_names_ = section_at(header_.e_shstrndx).sh_offset;
    }

    bool x86() const { return header_.e_machine == EM_X86_64; }
    const std::vector<Elf64_Shdr>& sections() const { return sections_; }
    const std::vector<Elf64_Sym>& symbols() const { return symbols_; }

    const Elf64_Shdr& section_at(std::size_t index) const {
        if (index >= sections_.size()) fail("a section index is out of range");
        return sections_[index];
    }
    const Elf64_Sym& symbol_at(std::size_t index) const {
        if (index >= symbols_.size()) fail("a symbol index is out of range");
        return symbols_[index];
    }
    std::string name_of(const Elf64_Sym& symbol) const { return string_at(strings_ + symbol.st_name); }
    std::string name_of(const Elf64_Shdr& section) const { return string_at(section_names_ + section.sh_name); }
    std::string_view code_of(const Elf64_Sym& symbol) const {
        const Elf64_Shdr& section = section_at(symbol.st_shndx);
        if (symbol.st_value > section.sh_size || symbol.st_size > section.sh_size - symbol.st_value) {
            fail("a function is out of range");
        }
        const std::size_t begin = section.sh_offset + symbol.st_value;
        if (begin > bytes_.size() || symbol.st_size > bytes_.size() - begin) fail("a section is out of range");
        return std::string_view(bytes_).substr(begin, symbol.st_size);
    }

    template <class T>
    T at(std::size_t offset) const {
        if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) fail("truncated");
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    template <class T>
    std::vector<T> array(std::size_t offset, std::size_t count) const {
        std::vector<T> values;
        for (std::size_t i = 0; i < count; ++i)
            values.push_back(at<T>(offset + i * sizeof(T)));
        return values;
    }
    [[noreturn]] void fail(const char* what) const { throw Failure(path_ + ": " + what); }

  private:
    std::string string_at(std::size_t begin) const {
        const std::size_t end = begin < bytes_.size() ? bytes_.find('\0', begin) : std::string::npos;
        if (end == std::string::npos) fail("a name is out of range");
        return bytes_.substr(begin, end - begin);
    }

    std::string path_;
    std::string bytes_;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Shdr> sections_;
    std::vector<Elf64_Sym> symbols_;
    std::size_t strings_ = 0;
    std::size_t section_names_ = 0;
};

bool is_code(const Elf64_Shdr& section) {
    return (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_EXECINSTR) != 0;
}

bool is_function(const Elf64_Sym& symbol) {
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE;
}

// Whether a relocation of code belongs to a call or jump instruction: that takes no address. On x86 the assembler
// writes PC32 for branches to local functions too; what comes before the displacement tells them apart: an opcode of a
// branch (E8, E9, 0F 80 to 0F 8F), or a ModRM byte of a memory operand, which is below 40.
bool is_branch(const Elf& elf, const Elf64_Shdr& code, const Elf64_Rela& entry) {
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
    if (!elf.x86()) {
        return type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26 || type == R_AARCH64_CONDBR19 ||
               type == R_AARCH64_TSTBR14;
    }
    if (type == R_X86_64_PLT32) return true;
    return type == R_X86_64_PC32 && entry.r_offset > 0 &&
           elf.at<std::uint8_t>(code.sh_offset + entry.r_offset - 1) >= 0x40;
}

// x86 counts a displacement from the end of the instruction: 4 bytes past the place, more where an immediate follows.
bool counts_from_end(const Elf& elf, std::uint32_t type) {
    return elf.x86() && (type == R_X86_64_PC32 || type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
                         type == R_X86_64_REX_GOTPCRELX);
}

using Place = std::pair<std::size_t, std::uint64_t>;  // section, offset
using Names = std::map<Place, std::vector<std::string>>;

void take_addresses(const Elf& elf, const Elf64_Shdr& relocations, const Names& functions, ObjectFile& out) {
    const Elf64_Shdr& target = elf.section_at(relocations.sh_info);
    const bool from_code = is_code(target);
    const std::size_t count = relocations.sh_size / sizeof(Elf64_Rela);
    for (const Elf64_Rela& entry : elf.array<Elf64_Rela>(relocations.sh_offset, count)) {
        const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
        if (from_code && is_branch(elf, target, entry)) continue;
        const Elf64_Sym& symbol = elf.symbol_at(ELF64_R_SYM(entry.r_info));
        const bool of_section = ELF64_ST_TYPE(symbol.st_info) == STT_SECTION;
        if (is_function(symbol) || symbol.st_shndx == SHN_UNDEF) {
            out.address_taken.insert(elf.name_of(symbol));  // data of other objects too: no function has such a name
        } else if (of_section && is_code(elf.section_at(symbol.st_shndx))) {
            // A function's own labels (jump tables) are not its address; its begin is, wherever it is counted from.
            const auto offset = static_cast<std::uint64_t>(entry.r_addend);
            for (const std::uint64_t bias : {0, 4, 5, 6, 8}) {
                if (bias != 0 && !(from_code && counts_from_end(elf, type))) break;
                const auto found = functions.find({symbol.st_shndx, offset + bias});
                if (found != functions.end()) out.address_taken.insert(found->second.begin(), found->second.end());
            }
        }
    }
}

// The largest N of the instructions `and $-N, %rsp` with N > 16.
std::size_t alignment_loss(std::string_view code) {
    std::size_t loss = 0;
    for (std::size_t i = 0; i + 4 <= code.size(); ++i) {
        const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(code[i + at]); };
        if (byte(0) != 0x48 || byte(2) != 0xE4) continue;
        if (byte(1) == 0x83 && byte(3) >= 0x80 && byte(3) < 0xF0) loss = std::max<std::size_t>(loss, 256u - byte(3));
        if (byte(1) == 0x81) loss = std::max<std::size_t>(loss, 4096);  // beyond 128 bytes
    }
    return loss;
}

}  // namespace

ObjectFile read_object_file(const std::string& path) {
    const Elf elf(path);
    ObjectFile out;
    out.red_zone = elf.x86() ? kRedZone : 0;
    for (const Elf64_Shdr& section : elf.sections()) {
        if (is_code(section) && section.sh_size != 0) out.has_code = true;
    }
    Names functions;
    for (const Elf64_Sym& symbol : elf.symbols()) {
        const std::string name = elf.name_of(symbol);
        const bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
        if (!local && symbol.st_shndx != SHN_UNDEF) out.defined.insert(name);
        if (!is_function(symbol)) continue;
        functions[{symbol.st_shndx, symbol.st_value}].push_back(name);
        if (local) out.local_functions.insert(name);
        const std::size_t loss = elf.x86() ? alignment_loss(elf.code_of(symbol)) : 0;
        if (loss != 0) out.alignment_loss[name] = loss;
    }
    for (const auto& [place, names] : functions) {
        if (names.size() > 1) out.aliases.push_back(names);
    }
    for (const Elf64_Shdr& section : elf.sections()) {
        if (section.sh_type == SHT_REL) elf.fail("relocations without addends");
        if (section.sh_type != SHT_RELA) continue;
        // Unwind tables and debug information name functions too, but nothing here reads them.
        const Elf64_Shdr& target = elf.section_at(section.sh_info);
        const bool loaded = (target.sh_flags & SHF_ALLOC) != 0 && elf.name_of(target) != ".eh_frame";
        if (loaded) take_addresses(elf, section, functions, out);
    }
    return out;
}

}  // namespace etch::stack
