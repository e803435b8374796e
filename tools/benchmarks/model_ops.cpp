// SPDX-License-Identifier: Apache-2.0
#include "model_ops.hpp"

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "limits.hpp"
#include "median.hpp"
#include "model_calls.hpp"

namespace etch::bench {
namespace {

struct Group {
    std::string name;
    std::uint32_t calls = 0;
    double macs = 0;
    double nanoseconds = 0;
};

std::string name_of(const OpRun& run) {
    std::string name(run.type);
    if (run.outputs != 0) name += " " + std::to_string(run.inputs) + "x" + std::to_string(run.outputs);
    return name;
}

}  // namespace

void report_ops(std::uint32_t tokens, std::uint32_t threads, const Options& options, Table& table) {
    const ModelCalls& model = kModelCalls;
    if (!model.share(threads)) return;
    const std::vector<std::int32_t> ids(tokens, static_cast<std::int32_t>(model.vocabulary / 2));
    const unsigned repetitions = options.quick ? 3 : 15;
    std::vector<std::vector<OpRun>> runs(repetitions);
    for (std::vector<OpRun>& run : runs) {
        model.run_ops(
            ids.data(), tokens,
            [](void* context, const OpRun& op) { static_cast<std::vector<OpRun>*>(context)->push_back(op); }, &run);
    }
    model.share(1);

    std::vector<Group> groups;
    double total = 0;
    for (std::size_t op = 0; op < runs[0].size(); ++op) {
        std::vector<std::uint64_t> times;
        for (const auto& run : runs)
            times.push_back(run[op].nanoseconds);
        const std::string name = name_of(runs[0][op]);
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
        if (group == groups.end()) group = groups.insert(groups.end(), Group{name, 0, 0, 0});
        ++group->calls;
        group->macs += runs[0][op].macs;
        group->nanoseconds += median(times);
        total += median(times);
    }
    std::sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.nanoseconds > b.nanoseconds; });

    const std::string place = std::string(model.name) + "/" + std::string(model.kernel()) + "/" +
                              std::to_string(tokens) + (threads == 1 ? "" : "/threads=" + std::to_string(threads));
    const double limit =
        threads * measured_limit(model.kernel(), model.recipe == "fp32" ? Operands::f32 : Operands::s8);
    std::vector<Row> rows;
    for (const Group& group : groups) {
        Row row{"op/" + place + "/" + group.name, group.nanoseconds, {}};
        row.figures.emplace_back("calls", group.calls);
        row.figures.emplace_back("% of time", 100 * group.nanoseconds / total);
        if (group.macs > 0) row.figures.emplace_back("GMAC/s", group.macs / group.nanoseconds);
        if (group.macs > 0 && limit > 0)
            row.figures.emplace_back("% of limit", 100 * group.macs / group.nanoseconds / limit);
        rows.push_back(row);
    }
    rows.push_back({"op/" + place + "/all", total, {}});

    const std::regex filter(options.filter);
    rows.erase(
        std::remove_if(rows.begin(), rows.end(), [&](const Row& row) { return !std::regex_search(row.name, filter); }),
        rows.end());
    if (!rows.empty()) table.title("time per op, " + place);
    for (const Row& row : rows)
        table.row(row);
}

}  // namespace etch::bench
