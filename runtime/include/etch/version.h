/* SPDX-License-Identifier: Apache-2.0
 *
 * Version and ABI of the runtime, for C and C++; CMake reads the three numbers from here. Generated sources compile
 * against the version that generated them and no other. */
#ifndef ETCH_VERSION_H
#define ETCH_VERSION_H

#define ETCH_VERSION_MAJOR 0
#define ETCH_VERSION_MINOR 5
#define ETCH_VERSION_PATCH 0

/* Raised with every change of table layout, of an interface that generated code uses, or of the arithmetic. */
#define ETCH_ABI 5

/* 1 for exactly this version; also in #if. */
#define ETCH_VERSION_IS(major, minor, patch) \
    (ETCH_VERSION_MAJOR == (major) && ETCH_VERSION_MINOR == (minor) && ETCH_VERSION_PATCH == (patch))

#define ETCH_TEXT_OF(x) #x
#define ETCH_TEXT(x) ETCH_TEXT_OF(x) /* of a macro's value */

/* "1.2.3" and the like. */
#define ETCH_VERSION ETCH_TEXT(ETCH_VERSION_MAJOR) "." ETCH_TEXT(ETCH_VERSION_MINOR) "." ETCH_TEXT(ETCH_VERSION_PATCH)

#endif /* ETCH_VERSION_H */
