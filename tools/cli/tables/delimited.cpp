// SPDX-License-Identifier: Apache-2.0
#include "delimited.hpp"

namespace etch::cli {

DelimitedReader::DelimitedReader(std::string_view bytes, Delimited kind)
    : bytes_(bytes), separator_(kind == Delimited::csv ? ',' : '\t'), quotes_(kind == Delimited::csv) {}

std::size_t DelimitedReader::line_end_length() const {
    if (position_ < bytes_.size() && bytes_[position_] == '\n') {
        return 1;
    }
    return bytes_.substr(position_, 2) == "\r\n" ? 2 : 0;
}

// At the opening quote. False where the field does not end as it should.
bool DelimitedReader::read_quoted(std::string& field) {
    const std::size_t opening_line = line_;
    ++position_;
    while (true) {
        const std::size_t quote = bytes_.find('"', position_);
        if (quote == std::string_view::npos) {
            line_ = opening_line;
            problem_ = "a quote is opened and never closed";
            return false;
        }
        for (std::size_t i = position_; i < quote; ++i) {
            line_ += bytes_[i] == '\n' ? 1U : 0U;
        }
        field += bytes_.substr(position_, quote - position_);
        position_ = quote + 1;
        if (position_ >= bytes_.size() || bytes_[position_] != '"') {
            break;
        }
        field += '"';
        ++position_;
    }
    if (position_ < bytes_.size() && bytes_[position_] != separator_ && line_end_length() == 0) {
        problem_ = "text between a closing quote and the next comma";
        return false;
    }
    return true;
}

void DelimitedReader::read_bare(std::string& field) {
    const std::size_t begin = position_;
    while (position_ < bytes_.size() && bytes_[position_] != separator_ && line_end_length() == 0) {
        ++position_;
    }
    field += bytes_.substr(begin, position_ - begin);
}

DelimitedReader::Next DelimitedReader::next(Row& row) {
    row.fields.clear();
    while (const std::size_t empty = line_end_length()) {
        position_ += empty;
        ++line_;
    }
    if (problem_ != nullptr || position_ >= bytes_.size()) {
        return problem_ != nullptr ? Next::malformed : Next::end;
    }
    row.line = line_;
    while (true) {
        if (row.fields.size() == kMostColumns) {
            problem_ = "there are more than 1000 columns";
            return Next::malformed;
        }
        std::string& field = row.fields.emplace_back();
        if (quotes_ && position_ < bytes_.size() && bytes_[position_] == '"') {
            if (!read_quoted(field)) {
                return Next::malformed;
            }
        } else {
            read_bare(field);
        }
        if (position_ < bytes_.size() && bytes_[position_] == separator_) {
            ++position_;
            continue;
        }
        const std::size_t end = line_end_length();
        position_ += end;
        line_ += end != 0 ? 1U : 0U;
        return Next::row;
    }
}

}  // namespace etch::cli
