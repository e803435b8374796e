# SPDX-License-Identifier: Apache-2.0
# ETCH_VERSION from include/etch/version.h, the one place that says it.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/etch/version.h ETCH_VERSION REGEX "^#define ETCH_VERSION_(MAJOR|MINOR|PATCH) ")
list(TRANSFORM ETCH_VERSION REPLACE "[^0-9]" "")
list(JOIN ETCH_VERSION . ETCH_VERSION)
