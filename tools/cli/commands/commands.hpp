// SPDX-License-Identifier: Apache-2.0
// What the program can do, one function for each mode and one file for each function; list_kernels() is in
// ../machine/kernels.cpp.
#pragma once

#include "../arguments.hpp"

namespace etch::cli {

void answer_texts(const Options& options);    // answer_texts.cpp
void converse(const Options& options);        // converse.cpp
void compare_texts(const Options& options);   // compare_texts.cpp
void evaluate_table(const Options& options);  // evaluate.cpp
void measure_latency();                       // latency.cpp
void report_memory();                         // memory.cpp
void run_self_test();                         // self_test.cpp
void list_kernels();
void print_version();  // about.cpp
void print_help();     // about.cpp

}  // namespace etch::cli
