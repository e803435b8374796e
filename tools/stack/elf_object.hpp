// SPDX-License-Identifier: Apache-2.0
// Bounds-checked views of an object file: ELF, little-endian, 64 bits for x86-64 and AArch64, 32 bits for ARM. What 32
// bits say is widened to the structures of 64.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace etch::stack {

class ElfObject {
  public:
    // Throws Failure where the file is missing or not of this format, as everything below does where it lies about
    // sizes.
    explicit ElfObject(const std::string& path);

    std::uint16_t machine() const { return header_.e_machine; }
    const std::vector<Elf64_Shdr>& sections() const { return sections_; }
    const std::vector<Elf64_Sym>& symbols() const { return symbols_; }
    const Elf64_Shdr& section_at(std::size_t index) const;
    const Elf64_Sym& symbol_at(std::size_t index) const;
    std::string name_of(const Elf64_Sym& symbol) const { return string_at(strings_ + symbol.st_name); }
    std::string name_of(const Elf64_Shdr& section) const { return string_at(section_names_ + section.sh_name); }

    // The instructions of a function.
    std::string_view code_of(const Elf64_Sym& symbol) const;

    // The entries of a relocation section. An addend that lies at the place itself is not read: it is 0 here.
    std::vector<Elf64_Rela> relocations_of(const Elf64_Shdr& section) const;

    // `offset` counts from the begin of the file.
    template <class T>
    T at(std::size_t offset) const {
        if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) fail("truncated");
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    [[noreturn]] void fail(const char* what) const;

  private:
    template <class T>
    std::vector<T> array(std::size_t offset, std::size_t count) const {
        std::vector<T> values;
        for (std::size_t i = 0; i < count; ++i)
            values.push_back(at<T>(offset + i * sizeof(T)));
        return values;
    }
    void read_header();
    std::string string_at(std::size_t begin) const;

    std::string path_;
    std::string bytes_;
    bool narrow_ = false;  // 32 bits
    Elf64_Ehdr header_{};
    std::vector<Elf64_Shdr> sections_;
    std::vector<Elf64_Sym> symbols_;
    std::size_t strings_ = 0;
    std::size_t section_names_ = 0;
};

}  // namespace etch::stack
