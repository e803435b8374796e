// SPDX-License-Identifier: Apache-2.0
// Search by meaning: search FILE QUERY prints the lines of FILE that are most like QUERY. With a model that embeds,
// here all-MiniLM-L6-v2 as `etch generate --name minilm` makes it.
#include <algorithm>
#include <cstdio>
#include <etch/similarity.hpp>
#include <fstream>
#include <memory>
#include <minilm.hpp>
#include <string>
#include <vector>

namespace model = etch::minilm;

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: search FILE QUERY\n");
        return 2;
    }
    std::vector<std::string> lines;
    std::ifstream file(argv[1]);
    if (!file) {
        std::fprintf(stderr, "search: cannot open %s\n", argv[1]);
        return 1;
    }
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    const std::vector<std::string_view> texts(lines.begin(), lines.end());

    const auto workspace = std::make_unique<model::Workspace>();
    std::vector<model::Result> found(texts.size());  // an index; keep it, and only the query is computed next time
    model::Result query;
    etch::Status status = model::embed_batch(*workspace, texts.data(), texts.size(), found.data());
    if (status == etch::Status::ok) status = model::embed(*workspace, argv[2], query);
    if (status != etch::Status::ok) {
        std::fprintf(stderr, "%s\n", etch::describe(status));
        return 1;
    }

    std::vector<std::pair<float, std::size_t>> order;
    for (std::size_t i = 0; i < found.size(); ++i)
        order.emplace_back(etch::cosine_similarity(query, found[i]), i);
    std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < std::min<std::size_t>(5, order.size()); ++i)
        std::printf("%.4f\t%s\n", static_cast<double>(order[i].first), lines[order[i].second].c_str());
}
