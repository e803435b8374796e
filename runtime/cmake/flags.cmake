# SPDX-License-Identifier: Apache-2.0
# Flags of everything that runs inside an inference: the runtime and the generated models. They come after those of the
# build type, so that a debug build computes as fast, and the same.
if(TARGET etch_flags)
  return()
endif()
set(etch_sections -ffunction-sections -fdata-sections)  # a linker leaves out what nothing uses
if(MINGW)
  set(etch_sections -ffunction-sections)  # GCC would write zeros into the file where a variable has a section of its own
endif()
add_library(etch_flags INTERFACE)
target_compile_features(etch_flags INTERFACE cxx_std_17)
target_compile_options(etch_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:
    -O2
    -fno-fast-math         # takes back what the user's flags have of it; first, for it turns errno on again
    -ffp-contract=off      # no fused multiply-add: it changes bits
    -fno-math-errno        # sqrt is one instruction
    -fno-exceptions -fno-rtti -fno-threadsafe-statics
    -fno-asynchronous-unwind-tables -fno-unwind-tables  # nothing is thrown through it; 5 % of a program
    -fno-stack-protector -U_FORTIFY_SOURCE  # Ubuntu's GCC has both: calls that boards' libraries lack, in no stack budget
    ${etch_sections}
    -Wall -Wextra -Wconversion>
  # Win64 aligns the stack to 16 bytes, and GCC moves vectors of 32 and 64 there as if it knew more (GCC bug 54412)
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${MINGW}>,$<CXX_COMPILER_ID:GNU>>:-Wa,-muse-unaligned-vector-move>
  # clang makes bcmp of a memcmp that asks for equality only; bare C libraries need not have it
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang,AppleClang>>:-fno-builtin-bcmp>)
