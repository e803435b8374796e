// SPDX-License-Identifier: Apache-2.0
// --memory: what the model and this program occupy.
#include "../failure.hpp"
#include "../machine/device.hpp"
#include "../model.hpp"
#include "../output.hpp"
#include "../text/format.hpp"
#include "commands.hpp"
#include "etch/hosted.hpp"
#include "linked_file.hpp"
#include "sample_text.hpp"

namespace etch::cli {
namespace {

void line(const char* name, std::size_t bytes, const std::string& meaning) {
    write_output(format("%-14s %12zu bytes  %s\n", name, bytes, meaning.c_str()));
}

void report_device(const DeviceMemory& memory) {
    write_output("device: " + device_in_use() + '\n');
    line("weights", memory.weights, "on the GPU, shared by its sessions");
    line("session", memory.session,
         format("on the GPU, for %u tokens a call; %zu of it for cuBLASLt", static_cast<unsigned>(kModel.max_tokens),
                memory.workspace));
    line("context", memory.context, "on the GPU, taken by CUDA and cuBLASLt for themselves, measured");
    line("graphs", memory.graphs,
         format("on the GPU, taken by CUDA for %u graphs, measured", static_cast<unsigned>(memory.graph_count)));
    line("page-locked", memory.page_locked, "of this machine, for the copies");
}

}  // namespace

void report_memory() {
    // A text of the maximum length, so that the peak is the peak.
    const std::string text = sample_text(kModel.max_tokens);
    Answer answer = {};
    const Status status = answer_text({text, {}, false}, answer);
    if (status != Status::ok) {
        fail(kRunFailure, "the sample text: %s", describe(status));
    }
    const std::size_t peak = hosted::peak_memory_bytes();

    line("tables", kModel.table_bytes, "weights and tokenizer tables of the model");
    const std::optional<LinkedFile> file = measure_linked_file();
    if (file && file->read_only >= kModel.table_bytes) {
        const std::size_t constants = file->read_only - kModel.table_bytes;
        line("code", file->instructions + constants + file->writable,
             format("of this program's file, shared libraries not counted: instructions %zu, constants without the "
                    "tables %zu, initialized data %zu",
                    file->instructions, constants, file->writable));
    } else {
        write_output("code           not known: the section headers of this program's file cannot be read\n");
    }
    line("arena", kModel.arena_bytes, "working memory of one workspace");
    line("stack budget", kModel.stack_budget, "of one call; builds by GCC of ELF files check it");
    if (peak != 0) {
        line("peak", peak,
             format("resident memory of this process, as the system says after a text of %u tokens",
                    static_cast<unsigned>(answer.tokens)));
    } else {
        write_output("peak           not known: this system does not say\n");
    }
    if (const std::optional<DeviceMemory> memory = device_memory()) {
        report_device(*memory);
    }
}

}  // namespace etch::cli
