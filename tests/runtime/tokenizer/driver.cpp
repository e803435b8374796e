// SPDX-License-Identifier: Apache-2.0
// Tokenizes texts with tables given at run time: for tests that compare the runtime with the `tokenizers` wheel.
//
// Standard input, little-endian: the fields of etch::WordPiece in order, then requests. An array is its size in bytes
// (u64) and its bytes, padded to 8; a null pointer an array of size 0; a number a u64. A request is
//     u32 is_pair, u32 plain_text, u32 capacity, u32 size, bytes [, u32 size, bytes]
// Standard output, for each: u32 status, u32 truncated, u32 count, i32 ids[count], u32 offsets[2 * count],
// u8 segments[count]. With the argument --pieces, u32 size and bytes of the text of each id; with --repeat N, every
// request is run N times and answered once, and standard error gets the processor time per byte of text in nanoseconds.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "etch/tokenizer.hpp"

namespace {

class Reader {
  public:
    explicit Reader(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

    bool at_end() const { return at_ == bytes_.size(); }

    template <class Number>
    Number number() {
        Number value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }

    std::string_view text() {
        const auto size = number<std::uint32_t>();
        return {take(size), size};
    }

    // Copied out, so that it is aligned and so that a sanitizer sees every access beyond its end.
    template <class Element>
    const Element* array() {
        const auto size = number<std::uint64_t>();
        const char* from = take(size);
        take((8 - size % 8) % 8);
        if (size == 0) return nullptr;
        storage_.emplace_back(new std::uint64_t[(size + 7) / 8]);
        char* to = reinterpret_cast<char*>(storage_.back().get());
        std::memcpy(to, from, size);
        return reinterpret_cast<const Element*>(to);
    }

  private:
    const char* take(std::size_t size) {
        if (bytes_.size() - at_ < size) {
            std::fprintf(stderr, "driver: input ends early\n");
            std::exit(2);
        }
        at_ += size;
        return bytes_.data() + (at_ - size);
    }

    std::vector<char> bytes_;
    std::vector<std::unique_ptr<std::uint64_t[]>> storage_;
    std::size_t at_ = 0;
};

template <class Number>
void set(Reader& in, Number& field) {
    field = static_cast<Number>(in.number<std::uint64_t>());
}

void read(Reader& in, etch::AddedTokens& tokens) {
    tokens.text = in.array<std::uint8_t>();
    tokens.begins = in.array<std::uint32_t>();
    tokens.ids = in.array<std::int32_t>();
    tokens.flags = in.array<std::uint8_t>();
    tokens.first_bytes = in.array<std::uint32_t>();
    set(in, tokens.count);
}

etch::WordPiece read_tables(Reader& in) {
    etch::WordPiece t{};
    t.first_nodes = in.array<std::uint8_t>();
    t.labels = in.array<std::uint8_t>();
    t.blocks = in.array<std::uint32_t>();
    t.ranks = in.array<std::uint32_t>();
    t.packed_ids = in.array<std::uint8_t>();
    t.prefix = in.array<std::uint8_t>();
    read(in, t.raw_tokens);
    read(in, t.normalized_tokens);
    set(in, t.block_count);
    set(in, t.key_count);
    set(in, t.id_bits);
    set(in, t.initial_end);
    set(in, t.continuing_end);
    set(in, t.first_end);
    set(in, t.piece_count);
    set(in, t.prefix_size);
    set(in, t.max_word_chars);
    set(in, t.unknown_id);
    set(in, t.classify_id);
    set(in, t.separate_id);
    set(in, t.clean_text);
    set(in, t.handle_chinese_chars);
    set(in, t.strip_accents);
    set(in, t.lowercase);
    return t;
}

template <class Element>
void write(const Element* elements, std::size_t count) {
    if (std::fwrite(elements, sizeof(Element), count, stdout) != count) std::exit(3);
}

void write_pieces(const etch::WordPiece& tables) {
    for (std::uint32_t id = 0; id < tables.piece_count; ++id) {
        const auto signed_id = static_cast<std::int32_t>(id);
        const auto size = static_cast<std::uint32_t>(etch::piece(tables, signed_id, nullptr, 0));
        std::vector<char> text(size);
        etch::piece(tables, signed_id, text.data(), size);
        write(&size, 1);
        write(text.data(), size);
    }
}

std::vector<char> read_all() {
    std::vector<char> bytes;
    std::size_t size = 0;
    do {
        bytes.resize(bytes.size() + (std::size_t{1} << 20));
        size += std::fread(bytes.data() + size, 1, bytes.size() - size, stdin);
    } while (size == bytes.size());
    bytes.resize(size);
    return bytes;
}

}  // namespace

int main(int argc, char** argv) {
    const int repeats = argc == 3 && std::strcmp(argv[1], "--repeat") == 0 ? std::atoi(argv[2]) : 1;
    Reader in(read_all());
    const etch::WordPiece tables = read_tables(in);
    // Exactly what is promised to suffice, so that a sanitizer sees more being used.
    const std::size_t scratch_bytes = etch::tokenizer_scratch_bytes(tables.max_word_chars);
    const std::unique_ptr<std::uint64_t[]> scratch(new std::uint64_t[scratch_bytes / 8]);
    if (argc == 2 && std::strcmp(argv[1], "--pieces") == 0) write_pieces(tables);
    double seconds = 0;
    std::size_t bytes = 0;
    while (!in.at_end()) {
        const bool is_pair = in.number<std::uint32_t>() != 0;
        const auto mode = static_cast<etch::SpecialTokens>(in.number<std::uint32_t>());
        const auto capacity = in.number<std::uint32_t>();
        const std::string_view first = in.text();
        const std::string_view second = is_pair ? in.text() : std::string_view();
        std::unique_ptr<std::int32_t[]> ids(new std::int32_t[capacity]);
        std::unique_ptr<std::uint8_t[]> segments(new std::uint8_t[capacity]);
        std::unique_ptr<etch::TokenOffset[]> offsets(new etch::TokenOffset[capacity]);
        const etch::TokenSink sink{ids.get(), segments.get(), offsets.get(), capacity};
        etch::Tokenized result{};
        etch::Status status{};
        const std::clock_t start = std::clock();  // processor time: other programs may be running
        for (int i = 0; i < repeats; ++i) {
            status = is_pair ? etch::tokenize_pair(tables, first, second, mode, scratch.get(), sink, result)
                             : etch::tokenize(tables, first, mode, scratch.get(), sink, result);
        }
        seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        bytes += first.size() + second.size();
        const std::uint32_t head[3] = {static_cast<std::uint32_t>(status), result.truncated ? 1U : 0U, result.count};
        write(head, 3);
        write(ids.get(), result.count);
        write(offsets.get(), result.count);
        write(segments.get(), result.count);
    }
    if (repeats > 1) {
        std::fprintf(stderr, "%.4f\n", seconds * 1e9 / static_cast<double>(bytes) / repeats);
    }
    return std::fflush(stdout) == 0 ? 0 : 3;
}
