// SPDX-License-Identifier: Apache-2.0
// Runs a target once on each file given, and on each file of each folder given: for compilers without libFuzzer, and
// for the plain tests, which have no time to look for more.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "fuzz.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(int argc, char** argv) {
    std::vector<fs::path> files;
    for (int i = 1; i < argc; ++i) {
        if (!fs::is_directory(argv[i])) {
            files.emplace_back(argv[i]);
            continue;
        }
        for (const fs::directory_entry& entry : fs::directory_iterator(argv[i])) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<fs::path> files = files_of(argc, argv);
    for (const fs::path& path : files) {
        std::ifstream file(path, std::ios::binary);
        if (!file) {
            std::fprintf(stderr, "cannot read %s\n", path.c_str());
            return 2;
        }
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        // Named before it runs: a target that finds something ends the program.
        std::fprintf(stderr, "%s\n", path.c_str());
        const etch::fuzz::ExactText exact(bytes);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(exact.view().data()), bytes.size());
    }
    std::printf("%zu inputs\n", files.size());
    return 0;
}
