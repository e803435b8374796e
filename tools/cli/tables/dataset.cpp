// SPDX-License-Identifier: Apache-2.0
#include "dataset.hpp"

#include <algorithm>

#include "../failure.hpp"
#include "../input.hpp"
#include "../model.hpp"
#include "../text/number.hpp"
#include "delimited.hpp"
#include "json_rows.hpp"

namespace etch::cli {
namespace {

// Positions, from 0.
struct Columns {
    std::size_t label;
    std::vector<std::size_t> texts;
};

enum class Kind : std::uint8_t { csv, tsv, jsonl };

Kind kind_of(std::string_view path) {
    const std::string_view ending = path.substr(std::min(path.size(), path.rfind('.')));
    if (ending == ".gz") {
        fail(kWrongUse, "--evaluate: %s is compressed: `gunzip -k` it and name what that writes", quoted(path).c_str());
    }
    if (ending != ".csv" && ending != ".tsv" && ending != ".jsonl") {
        fail(kWrongUse, "--evaluate: expected a file named .csv, .tsv or .jsonl, got %s", quoted(path).c_str());
    }
    return ending == ".csv" ? Kind::csv : ending == ".tsv" ? Kind::tsv : Kind::jsonl;
}

// The columns of a row as a message lists them: 1 'label', 2 'text'.
std::string listed(const Row& row) {
    constexpr std::size_t kShown = 12;
    std::string list;
    for (std::size_t i = 0; i < row.fields.size() && i < kShown; ++i) {
        list += (i == 0 ? "" : ", ") + std::to_string(i + 1) + " " + quoted(row.fields[i].substr(0, 40));
    }
    return row.fields.size() > kShown ? list + ", ..." : list;
}

std::vector<std::string_view> split_columns(std::string_view list) {
    std::vector<std::string_view> columns;
    while (true) {
        const std::size_t comma = list.find(',');
        columns.push_back(list.substr(0, comma));
        if (comma == std::string_view::npos) {
            return columns;
        }
        list.remove_prefix(comma + 1);
    }
}

bool is_name(std::string_view column) {
    return !parse_number(column);
}

// A name implies a header.
bool has_header(const Options& options) {
    std::vector<std::string_view> columns = split_columns(options.text_columns.value_or("1"));
    columns.push_back(options.label_column);
    const auto name = std::find_if(columns.begin(), columns.end(), is_name);
    if (name != columns.end() && options.header == false) {
        fail(kWrongUse, "--no-header: column %s is not a number", quoted(*name).c_str());
    }
    return options.header.value_or(name != columns.end());
}

std::size_t find_column(const char* option, std::string_view column, const Row& first) {
    const std::size_t count = first.fields.size();
    if (const std::optional<std::uint64_t> number = parse_number(column)) {
        if (*number < 1 || *number > count) {
            fail(kWrongUse, "%s: there is no column %s, the file has %zu: %s", option, quoted(column).c_str(), count,
                 listed(first).c_str());
        }
        return static_cast<std::size_t>(*number) - 1;
    }
    const auto found = std::find(first.fields.begin(), first.fields.end(), column);
    if (const auto named = std::count(first.fields.begin(), first.fields.end(), column); named > 1) {
        fail(kWrongUse, "%s: %lld columns are named %s in line %zu", option, static_cast<long long>(named),
             quoted(column).c_str(), first.line);
    }
    if (found == first.fields.end()) {
        fail(kWrongUse, "%s: no column is named %s in line %zu, which has %s", option, quoted(column).c_str(),
             first.line, listed(first).c_str());
    }
    return static_cast<std::size_t>(found - first.fields.begin());
}

Columns find_columns(const Options& options, const Row& first) {
    Columns columns = {find_column("--label-column", options.label_column, first), {}};
    if (options.text_columns) {
        for (const std::string_view column : split_columns(*options.text_columns)) {
            columns.texts.push_back(find_column("--text-columns", column, first));
        }
    } else {
        for (std::size_t i = 0; i < first.fields.size(); ++i) {
            if (i != columns.label) {
                columns.texts.push_back(i);
            }
        }
    }
    if (std::count(columns.texts.begin(), columns.texts.end(), columns.label) != 0) {
        fail(kWrongUse, "--text-columns: column %zu is the label's", columns.label + 1);
    }
    for (std::size_t i = 0; i < columns.texts.size(); ++i) {
        if (std::count(columns.texts.begin(), columns.texts.begin() + static_cast<std::ptrdiff_t>(i),
                       columns.texts[i]) != 0) {
            fail(kWrongUse, "--text-columns: column %zu is named twice", columns.texts[i] + 1);
        }
    }
    if (columns.texts.empty()) {
        fail(kWrongUse,
             "--evaluate: the file has one column only, expected a label and a text; columns are split by commas, in "
             ".tsv by tabs");
    }
    if (texts_of_rows(options) == RowTexts::choices && columns.texts.size() < 2) {
        fail(kWrongUse, "--evaluate needs columns of a prompt and its choices, there is one text column");
    }
    if (texts_of_rows(options) == RowTexts::two && columns.texts.size() != 2) {
        fail(kWrongUse, "%s needs two text columns, there are %zu: choose with --text-columns A,B",
             options.pair_lines ? "--pairs" : "--evaluate", columns.texts.size());
    }
    return columns;
}

// The fields of the text columns from `first` on, with `between` between them.
std::string joined(const Row& row, const Columns& columns, std::size_t first, char between) {
    std::string text;
    for (std::size_t i = first; i < columns.texts.size(); ++i) {
        if (i != first) {
            text += between;
        }
        text += row.fields[columns.texts[i]];
    }
    return text;
}

// The text columns of a row, joined by one space, or one on each side of a pair; of a prompt and its choices, these
// with a TAB between them.
Example make_example(const Row& row, const Columns& columns, RowTexts texts) {
    if (texts == RowTexts::joined) {
        return {joined(row, columns, 0, ' '), {}};
    }
    return {row.fields[columns.texts[0]], joined(row, columns, 1, '\t')};
}

template <class Reader>
Dataset read_rows(const Options& options, Reader reader, bool header) {
    Dataset dataset = {{}, {}, {}, quoted(options.table), header};
    const std::string& name = dataset.name;
    Columns columns = {};
    std::size_t width = 0;
    Row row;
    DelimitedReader::Next next = DelimitedReader::Next::end;
    while ((next = reader.next(row)) == DelimitedReader::Next::row) {
        if (width == 0) {
            width = row.fields.size();
            columns = find_columns(options, row);
            if (dataset.header) {
                continue;
            }
        }
        if (row.fields.size() != width) {
            fail(kRunFailure, "%s: line %zu: %zu columns, the first row has %zu", name.c_str(), row.line,
                 row.fields.size(), width);
        }
        if (texts_of_rows(options) == RowTexts::choices &&
            joined(row, columns, 1, ' ').find('\t') != std::string::npos) {
            fail(kRunFailure, "%s: line %zu: a choice has a TAB", name.c_str(), row.line);
        }
        dataset.values.push_back(row.fields[columns.label]);
        dataset.lines.push_back(row.line);
        if (dataset.examples.size() < options.limit) {
            dataset.examples.push_back(make_example(row, columns, texts_of_rows(options)));
        }
    }
    if (next == DelimitedReader::Next::malformed) {
        fail(kRunFailure, "%s: line %zu: %s", name.c_str(), reader.line(), reader.problem());
    }
    if (dataset.examples.empty()) {
        fail(kRunFailure, "%s: no rows", name.c_str());
    }
    return dataset;
}

}  // namespace

RowTexts texts_of_rows(const Options& options) {
    return options.pair_lines ? RowTexts::two : options.head_texts.value_or(kModel.face.row);
}

Dataset read_dataset(const Options& options) {
    const Kind kind = kind_of(options.table);
    const bool header = has_header(options);
    if (kind == Kind::jsonl && options.header) {
        fail(kWrongUse, "--header and --no-header do not go with %s: its rows say the names",
             quoted(options.table).c_str());
    }
    const std::string bytes = read_file(options.table);
    if (kind == Kind::jsonl) {
        return read_rows(options, JsonRows(bytes), true);
    }
    return read_rows(options, DelimitedReader(bytes, kind == Kind::csv ? Delimited::csv : Delimited::tsv), header);
}

void refuse_value(const Dataset& dataset, std::size_t row, const std::string& problem) {
    fail(kRunFailure, "%s: line %zu: %s%s", dataset.name.c_str(), dataset.lines[row], problem.c_str(),
         row == 0 && !dataset.header ? " (--header, if the first row names the columns)" : "");
}

}  // namespace etch::cli
