// SPDX-License-Identifier: Apache-2.0
#include "object_file.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "elf_object.hpp"

namespace etch::stack {
namespace {

constexpr std::size_t kRedZone = 128;  // x86-64 System V ABI

bool is_code(const Elf64_Shdr& section) {
    return (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_EXECINSTR) != 0;
}

bool is_function(const Elf64_Sym& symbol) {
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE;
}

bool is_x86(const ElfObject& elf) {
    return elf.machine() == EM_X86_64;
}

std::uint32_t type_of(const Elf64_Rela& entry) {
    return static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
}

bool is_arm_branch(std::uint32_t type) {
    switch (type) {
        case R_ARM_PC24:
        case R_ARM_PLT32:
        case R_ARM_CALL:
        case R_ARM_JUMP24:
        case R_ARM_THM_PC22:  // bl
        case R_ARM_THM_JUMP24:
        case R_ARM_THM_JUMP19:
        case R_ARM_THM_PC11:
        case R_ARM_THM_PC9:
        case R_ARM_V4BX:
            return true;
        default:
            return false;
    }
}

// Whether a relocation of code belongs to a call or jump instruction: that takes no address. On x86 the assembler
// writes PC32 for branches to local functions too; what comes before the displacement tells them apart: an opcode of a
// branch (E8, E9, 0F 80 to 0F 8F), or a ModRM byte of a memory operand, which is below 40.
bool is_branch(const ElfObject& elf, const Elf64_Shdr& code, const Elf64_Rela& entry) {
    const std::uint32_t type = type_of(entry);
    if (elf.machine() == EM_ARM) return is_arm_branch(type);
    if (elf.machine() == EM_AARCH64) {
        return type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26 || type == R_AARCH64_CONDBR19 ||
               type == R_AARCH64_TSTBR14;
    }
    if (type == R_X86_64_PLT32) return true;
    return type == R_X86_64_PC32 && entry.r_offset > 0 &&
           elf.at<std::uint8_t>(code.sh_offset + entry.r_offset - 1) >= 0x40;
}

// x86 counts a displacement from the end of the instruction: 4 bytes past the place, more where an immediate follows.
bool counts_from_end(const ElfObject& elf, std::uint32_t type) {
    return is_x86(elf) && (type == R_X86_64_PC32 || type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
                           type == R_X86_64_REX_GOTPCRELX);
}

using Place = std::pair<std::size_t, std::uint64_t>;  // section, offset
using Names = std::map<Place, std::vector<std::string>>;

void take(const Names& functions, const Place& place, ObjectFile& out) {
    const auto found = functions.find(place);
    if (found != functions.end()) out.address_taken.insert(found->second.begin(), found->second.end());
}

// An address counted from the begin of a section of code. A function's own labels (jump tables) are not its address;
// its begin is, wherever it is counted from.
void take_offset(const ElfObject& elf, const Elf64_Shdr& target, const Elf64_Rela& entry, std::size_t section,
                 const Names& functions, ObjectFile& out) {
    if (elf.machine() == EM_ARM) return;  // labels only: the assembler names functions by their symbols there
    const auto offset = static_cast<std::uint64_t>(entry.r_addend);
    for (const std::uint64_t bias : {0, 4, 5, 6, 8}) {
        if (bias != 0 && !(is_code(target) && counts_from_end(elf, type_of(entry)))) break;
        take(functions, {section, offset + bias}, out);
    }
}

// A branch at `place` to `symbol`.
void add_call(const ElfObject& elf, const Place& place, const Elf64_Sym& symbol, const Names& functions,
              ObjectFile& out) {
    const auto after = functions.upper_bound(place);
    if (after == functions.begin() || std::prev(after)->first.first != place.first) return;
    if (!is_function(symbol) && symbol.st_shndx != SHN_UNDEF) return;  // a label
    const std::string callee = elf.name_of(symbol);
    if (callee.empty()) return;  // R_ARM_V4BX has no symbol
    for (const std::string& caller : std::prev(after)->second)
        out.calls.insert({caller, callee});
}

void take_addresses(const ElfObject& elf, const Elf64_Shdr& relocations, const Names& functions, ObjectFile& out) {
    const Elf64_Shdr& target = elf.section_at(relocations.sh_info);
    for (const Elf64_Rela& entry : elf.relocations_of(relocations)) {
        const Elf64_Sym& symbol = elf.symbol_at(ELF64_R_SYM(entry.r_info));
        if (is_code(target) && is_branch(elf, target, entry)) {
            add_call(elf, {relocations.sh_info, entry.r_offset}, symbol, functions, out);
            continue;
        }
        const bool of_section = ELF64_ST_TYPE(symbol.st_info) == STT_SECTION;
        if (is_function(symbol) || symbol.st_shndx == SHN_UNDEF) {
            const std::string name = elf.name_of(symbol);  // maybe of data in other objects: no function is called so
            if (name != "_GLOBAL_OFFSET_TABLE_") out.address_taken.insert(name);
        } else if (of_section && is_code(elf.section_at(symbol.st_shndx))) {
            take_offset(elf, target, entry, symbol.st_shndx, functions, out);
        }
    }
}

bool is_vector_table(const ElfObject& elf, const Elf64_Shdr& section) {
    const std::string name = elf.name_of(section);
    return name.rfind(".vectors", 0) == 0 || name.rfind(".isr_vector", 0) == 0;
}

std::vector<std::string> vectors_of(const ElfObject& elf, const Elf64_Shdr& relocations) {
    std::map<std::uint64_t, std::string> by_offset;
    for (const Elf64_Rela& entry : elf.relocations_of(relocations)) {
        const Elf64_Sym& symbol = elf.symbol_at(ELF64_R_SYM(entry.r_info));
        // The first entry, where the stack begins, is no function.
        const bool names_stack = entry.r_offset == 0 && !is_function(symbol);
        if (!names_stack) by_offset[entry.r_offset] = elf.name_of(symbol);
    }
    std::vector<std::string> names;
    for (const auto& [offset, name] : by_offset)
        names.push_back(name);
    return names;
}

// Whether no code reads the pointers of this section: unwind tables and debug information.
bool is_read_by_nobody(const ElfObject& elf, const Elf64_Shdr& section) {
    const std::string name = elf.name_of(section);
    return (section.sh_flags & SHF_ALLOC) == 0 || section.sh_type == SHT_ARM_EXIDX || name == ".eh_frame" ||
           name.rfind(".ARM.", 0) == 0;
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
    const ElfObject elf(path);
    ObjectFile out;
    out.red_zone = is_x86(elf) ? kRedZone : 0;
    for (const Elf64_Shdr& section : elf.sections()) {
        if (is_code(section) && section.sh_size != 0) out.has_code = true;
    }
    Names functions;
    for (const Elf64_Sym& symbol : elf.symbols()) {
        const std::string name = elf.name_of(symbol);
        const bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
        if (!local && symbol.st_shndx != SHN_UNDEF) out.defined.insert(name);
        if (!is_function(symbol)) continue;
        // ARM marks code in Thumb mode by bit 0 of the address.
        const Elf64_Addr offset = symbol.st_value & (elf.machine() == EM_ARM ? ~Elf64_Addr{1} : ~Elf64_Addr{0});
        functions[{symbol.st_shndx, offset}].push_back(name);
        if (local) out.local_functions.insert(name);
        const std::size_t loss = is_x86(elf) ? alignment_loss(elf.code_of(symbol)) : 0;
        if (loss != 0) out.alignment_loss[name] = loss;
    }
    for (const auto& [place, names] : functions) {
        if (names.size() > 1) out.aliases.push_back(names);
    }
    for (const Elf64_Shdr& section : elf.sections()) {
        if (section.sh_type != SHT_REL && section.sh_type != SHT_RELA) continue;
        const Elf64_Shdr& target = elf.section_at(section.sh_info);
        if (is_vector_table(elf, target)) {
            out.vectors = vectors_of(elf, section);
        } else if (!is_read_by_nobody(elf, target)) {
            take_addresses(elf, section, functions, out);
        }
    }
    return out;
}

}  // namespace etch::stack
