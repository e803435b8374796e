// SPDX-License-Identifier: Apache-2.0
// A model some of whose tables are copied before the first call: without that a call does nothing; with it it has the
// bits of the golden texts; a copy that is lost or broken is found, and made anew.
#include ETCH_MODEL_HEADER
#include ETCH_MODEL_WEIGHTS

#include <cstdio>
#include <cstring>

namespace {

namespace model = etch::ETCH_MODEL;
using etch::Status;

#define CHECK(condition)                               \
    if (!(condition)) {                                \
        std::printf("line %d: " #condition, __LINE__); \
        return 1;                                      \
    }

model::Workspace workspace;

int run() {
    model::Encoding encoding;
    CHECK(model::self_test(workspace) == Status::tables_not_copied);
    CHECK(model::encode(workspace, "a text", encoding) == Status::tables_not_copied);
    CHECK(!model::kernel(workspace).empty());  // needs none
    char piece[64];
    CHECK(model::piece(0, piece, sizeof piece) > 0);
    model::copy_tables();
    CHECK(model::self_test(workspace) == Status::ok);
    CHECK(model::encode(workspace, "a text", encoding) == Status::ok);
    std::memset(model::ETCH_COPIED_TABLE, 0x55, 4);
    CHECK(model::self_test(workspace) == Status::table_mismatch);
    model::copy_tables();
    CHECK(model::self_test(workspace) == Status::ok);
    return 0;
}

}  // namespace

int main() {
    return run();
}
