// SPDX-License-Identifier: Apache-2.0
#include "elf_object.hpp"

#include <fstream>
#include <iterator>

#include "failure.hpp"

namespace etch::stack {
namespace {

Elf64_Shdr widened(const Elf32_Shdr& s) {
    return {s.sh_name, s.sh_type, s.sh_flags, s.sh_addr,      s.sh_offset,
            s.sh_size, s.sh_link, s.sh_info,  s.sh_addralign, s.sh_entsize};
}

Elf64_Sym widened(const Elf32_Sym& s) {
    return {s.st_name, s.st_info, s.st_other, s.st_shndx, s.st_value, s.st_size};
}

template <class T>
auto widened(const std::vector<T>& narrow) {
    std::vector<decltype(widened(narrow[0]))> wide;
    for (const T& item : narrow)
        wide.push_back(widened(item));
    return wide;
}

}  // namespace

ElfObject::ElfObject(const std::string& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Failure(path + ": cannot be read");
    bytes_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    read_header();
    sections_ = narrow_ ? widened(array<Elf32_Shdr>(header_.e_shoff, header_.e_shnum))
                        : array<Elf64_Shdr>(header_.e_shoff, header_.e_shnum);
    for (const Elf64_Shdr& section : sections_) {
        if (section.sh_type == SHT_SYMTAB_SHNDX) fail("more sections than this reader knows of");
        if (section.sh_type != SHT_SYMTAB) continue;
        symbols_ = narrow_ ? widened(array<Elf32_Sym>(section.sh_offset, section.sh_size / sizeof(Elf32_Sym)))
                           : array<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
        strings_ = section_at(section.sh_link).sh_offset;
    }
    section_names_ = section_at(header_.e_shstrndx).sh_offset;
}

void ElfObject::read_header() {
    const auto common = at<Elf32_Ehdr>(0);  // e_ident, e_type and e_machine lie where 64 bits have them
    if (std::memcmp(common.e_ident, ELFMAG, SELFMAG) != 0 || common.e_ident[EI_DATA] != ELFDATA2LSB ||
        common.e_type != ET_REL) {
        fail("not a little-endian ELF object");
    }
    narrow_ = common.e_ident[EI_CLASS] == ELFCLASS32;
    if (narrow_) {
        header_.e_machine = common.e_machine;
        header_.e_shoff = common.e_shoff;
        header_.e_shnum = common.e_shnum;
        header_.e_shentsize = common.e_shentsize;
        header_.e_shstrndx = common.e_shstrndx;
    } else {
        header_ = at<Elf64_Ehdr>(0);
    }
    if (header_.e_shentsize != (narrow_ ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr))) fail("not an ELF object");
    const bool known =
        narrow_ ? header_.e_machine == EM_ARM : header_.e_machine == EM_X86_64 || header_.e_machine == EM_AARCH64;
    if (!known) fail("not x86-64, AArch64 or ARM");
}

const Elf64_Shdr& ElfObject::section_at(std::size_t index) const {
    if (index >= sections_.size()) fail("a section index is out of range");
    return sections_[index];
}

const Elf64_Sym& ElfObject::symbol_at(std::size_t index) const {
    if (index >= symbols_.size()) fail("a symbol index is out of range");
    return symbols_[index];
}

std::string_view ElfObject::code_of(const Elf64_Sym& symbol) const {
    const Elf64_Shdr& section = section_at(symbol.st_shndx);
    if (symbol.st_value > section.sh_size || symbol.st_size > section.sh_size - symbol.st_value) {
        fail("a function is out of range");
    }
    const std::size_t begin = section.sh_offset + symbol.st_value;
    if (begin > bytes_.size() || symbol.st_size > bytes_.size() - begin) fail("a section is out of range");
    return std::string_view(bytes_).substr(begin, symbol.st_size);
}

std::vector<Elf64_Rela> ElfObject::relocations_of(const Elf64_Shdr& section) const {
    if (!narrow_) {
        if (section.sh_type == SHT_REL) fail("relocations without addends");
        return array<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela));
    }
    if (section.sh_type == SHT_RELA) fail("relocations with addends");
    std::vector<Elf64_Rela> wide;
    for (const Elf32_Rel& entry : array<Elf32_Rel>(section.sh_offset, section.sh_size / sizeof(Elf32_Rel))) {
        wide.push_back({entry.r_offset, ELF64_R_INFO(ELF32_R_SYM(entry.r_info), ELF32_R_TYPE(entry.r_info)), 0});
    }
    return wide;
}

void ElfObject::fail(const char* what) const {
    throw Failure(path_ + ": " + what);
}

std::string ElfObject::string_at(std::size_t begin) const {
    const std::size_t end = begin < bytes_.size() ? bytes_.find('\0', begin) : std::string::npos;
    if (end == std::string::npos) fail("a name is out of range");
    return bytes_.substr(begin, end - begin);
}

}  // namespace etch::stack
