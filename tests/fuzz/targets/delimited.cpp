// SPDX-License-Identifier: Apache-2.0
// The reader of csv and tsv: rows written again and read again are the same rows. An input is one byte, odd for tsv,
// and the file.
#include "tables/delimited.hpp"

#include <string>
#include <vector>

#include "fuzz.hpp"

namespace {

using etch::cli::Delimited;
using etch::cli::DelimitedReader;
using etch::cli::Row;
using etch::fuzz::check;

std::vector<Row> read(std::string_view bytes, Delimited kind, bool& whole) {
    DelimitedReader reader(bytes, kind);
    std::vector<Row> rows;
    Row row;
    std::size_t line = 0;
    DelimitedReader::Next next{};
    while ((next = reader.next(row)) == DelimitedReader::Next::row) {
        check(row.line > line, "rows begin on lines that grow");
        check(!row.fields.empty(), "a row has a field");
        line = row.line;
        rows.push_back(row);
    }
    whole = next == DelimitedReader::Next::end;
    if (!whole) {
        check(reader.line() >= line && reader.problem() != nullptr, "a problem has a line and a name");
        check(kind == Delimited::csv || row.fields.size() == etch::cli::kMostColumns, "every byte is fine in tsv");
    }
    check(reader.next(row) == next, "the end stays the end");
    return rows;
}

std::string write_csv(const std::vector<Row>& rows) {
    std::string out;
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.fields.size(); ++i) {
            out += i == 0 ? "\"" : ",\"";
            for (const char c : row.fields[i]) {
                out += c;
                if (c == '"') {
                    out += c;
                }
            }
            out += '"';
        }
        out += "\r\n";
    }
    return out;
}

void check_tsv(std::string_view bytes, const std::vector<Row>& rows) {
    std::string out;
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.fields.size(); ++i) {
            check(row.fields[i].find_first_of("\t\n") == std::string::npos, "a tsv field has no TAB and no LF");
            out += i == 0 ? "" : "\t";
            out += row.fields[i];
        }
        out += '\n';
    }
    // All that may be missing are empty lines, the CR of CRLF, and the last LF may be added.
    check(out.size() <= bytes.size() + 1, "a tsv is not made longer");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    const Delimited kind = (input.byte() & 1) != 0 ? Delimited::tsv : Delimited::csv;
    const etch::fuzz::ExactText bytes(input.rest());
    bool whole = false;
    const std::vector<Row> rows = read(bytes.view(), kind, whole);
    if (kind == Delimited::tsv) {
        check_tsv(bytes.view(), rows);
    }
    const std::vector<Row> again = read(write_csv(rows), Delimited::csv, whole);
    check(whole, "what was written well is read to its end");
    check(again.size() == rows.size(), "as many rows as before");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        check(again[i].fields == rows[i].fields, "the same fields as before");
    }
    return 0;
}
