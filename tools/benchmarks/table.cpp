// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "etch/version.h"

namespace etch::bench {
namespace {

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
}

}  // namespace

Table::Table(const std::string& json) {
    if (json.empty()) return;
    json_ = std::fopen(json.c_str(), "a");
    if (json_ == nullptr) {
        std::fprintf(stderr, "%s: %s\n", json.c_str(), std::strerror(errno));
        std::exit(1);
    }
}

Table::~Table() {
    if (json_ != nullptr) std::fclose(json_);
}

void Table::machine(const Machine& m) {
    std::printf(
        "%s (family %u, model %u), %u processors allowed, 1 thread used where a row names no other; etch %s, %s\n",
        m.cpu.c_str(), m.family, m.model, m.processors, ETCH_VERSION, m.compiler.c_str());
    if (json_ == nullptr) return;
    std::fprintf(json_,
                 "{\"machine\": %s, \"family\": %u, \"model\": %u, \"processors\": %u, \"threads\": 1, \"etch\": %s, "
                 "\"compiler\": %s}\n",
                 quoted(m.cpu).c_str(), m.family, m.model, m.processors, quoted(ETCH_VERSION).c_str(),
                 quoted(m.compiler).c_str());
}

void Table::title(const std::string& text) {
    std::printf("\n%s\n", text.c_str());
}

void Table::note(const std::string& name, const std::string& text) {
    std::printf("%-46s %s\n", name.c_str(), text.c_str());
}

void Table::row(const Row& row) {
    ++rows_;
    std::printf("%-46s %12.3f us", row.name.c_str(), row.nanoseconds / 1e3);
    for (const auto& [unit, value] : row.figures)
        std::printf("  %9.4g %s", value, unit.c_str());
    std::printf("%s%s\n", row.remark.empty() ? "" : "  ", row.remark.c_str());
    std::fflush(stdout);
    if (json_ == nullptr) return;
    std::fprintf(json_, "{\"name\": %s, \"ns\": %.1f", quoted(row.name).c_str(), row.nanoseconds);
    for (const auto& [unit, value] : row.figures)
        std::fprintf(json_, ", %s: %.6g", quoted(unit).c_str(), value);
    if (!row.remark.empty()) std::fprintf(json_, ", \"remark\": %s", quoted(row.remark).c_str());
    std::fprintf(json_, "}\n");
    std::fflush(json_);
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
        if (run.error_occurred) {
            std::fprintf(stderr, "%s: %s\n", run.benchmark_name().c_str(), run.error_message.c_str());
            failed_ = true;
            continue;
        }
        if (run.repetitions > 1 && run.aggregate_name != "median") continue;
        Row row{run.run_name.function_name, run.GetAdjustedRealTime(), {}, run.report_label};
        if (!run.run_name.args.empty()) row.name += "/" + run.run_name.args;
        for (const auto& [unit, counter] : run.counters)
            row.figures.emplace_back(unit, counter.value);
        table_.row(row);
    }
}

}  // namespace etch::bench
