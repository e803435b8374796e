// SPDX-License-Identifier: Apache-2.0
// Results: a table on standard output, and the same as one JSON object a line.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "machine.hpp"

namespace etch::bench {

struct Row {
    std::string name;  // what/kernel set/shape
    double nanoseconds;
    std::vector<std::pair<std::string, double>> figures;  // by unit: {"GMAC/s", 93.1}
    std::string remark = {};
};

class Table {
  public:
    // Opens `json` for appending unless it is empty; stops the program where that fails.
    explicit Table(const std::string& json);
    ~Table();
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    void machine(const Machine& machine);
    void title(const std::string& text);
    void row(const Row& row);
    // A line of text in the table only.
    void note(const std::string& name, const std::string& text);

    std::size_t rows() const { return rows_; }

  private:
    std::FILE* json_ = nullptr;
    std::size_t rows_ = 0;
};

// Hands what Google Benchmark measured to a table: of several repetitions the median.
class TableReporter : public benchmark::BenchmarkReporter {
  public:
    explicit TableReporter(Table& table) : table_(table) {}
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override;

    bool failed() const { return failed_; }

  private:
    Table& table_;
    bool failed_ = false;
};

}  // namespace etch::bench
