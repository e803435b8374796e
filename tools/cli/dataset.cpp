// SPDX-License-Identifier: Apache-2.0
#include "dataset.hpp"

#include <algorithm>

#include "delimited.hpp"
#include "failure.hpp"
#include "input.hpp"
#include "model.hpp"
#include "number.hpp"

namespace etch::cli {
namespace {

// Whether a row holds two texts: as one input, or to be compared.
bool two_texts(const Options& options) {
    return options.pair_lines || kModel.task == Task::embedding;
}

// Positions, from 0.
struct Columns {
    std::size_t label;
    std::vector<std::size_t> texts;
};

Delimited kind_of(std::string_view path) {
    const std::string_view ending = path.substr(std::min(path.size(), path.rfind('.')));
    if (ending != ".csv" && ending != ".tsv") {
        fail(kWrongUse, "--evaluate: expected a file named .csv or .tsv, got %s", quoted(path).c_str());
    }
    return ending == ".csv" ? Delimited::csv : Delimited::tsv;
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
            fail(kWrongUse, "%s: there is no column %s, the file has %zu", option, quoted(column).c_str(), count);
        }
        return static_cast<std::size_t>(*number) - 1;
    }
    const auto found = std::find(first.fields.begin(), first.fields.end(), column);
    if (found == first.fields.end()) {
        fail(kWrongUse, "%s: no column is named %s in line %zu", option, quoted(column).c_str(), first.line);
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
    if (columns.texts.empty()) {
        fail(kWrongUse, "--evaluate: the file has one column only, expected a label and a text");
    }
    if (two_texts(options) && columns.texts.size() != 2) {
        fail(kWrongUse, "%s needs two text columns, there are %zu: choose with --text-columns A,B",
             options.pair_lines ? "--pairs" : "--evaluate", columns.texts.size());
    }
    return columns;
}

// The text columns of a row, joined by one space, or one on each side of a pair.
Example make_example(const Row& row, const Columns& columns, bool pair) {
    if (pair) {
        return {row.fields[columns.texts[0]], row.fields[columns.texts[1]]};  // copies: it may be one column, twice
    }
    std::string text;
    for (std::size_t i = 0; i < columns.texts.size(); ++i) {
        text += i == 0 ? "" : " ";
        text += row.fields[columns.texts[i]];
    }
    return {std::move(text), {}};
}

}  // namespace

Dataset read_dataset(const Options& options) {
    const Delimited kind = kind_of(options.table);
    const std::string bytes = read_file(options.table);

    DelimitedReader reader(bytes, kind);
    Dataset dataset = {{}, {}, {}, quoted(options.table), has_header(options)};
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
        dataset.values.push_back(row.fields[columns.label]);
        dataset.lines.push_back(row.line);
        if (dataset.examples.size() < options.limit) {
            dataset.examples.push_back(make_example(row, columns, two_texts(options)));
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

void refuse_value(const Dataset& dataset, std::size_t row, const std::string& problem) {
    fail(kRunFailure, "%s: line %zu: %s%s", dataset.name.c_str(), dataset.lines[row], problem.c_str(),
         row == 0 && !dataset.header ? " (--header, if the first row names the columns)" : "");
}

}  // namespace etch::cli
