// SPDX-License-Identifier: Apache-2.0
// What the C library would ask of a system with files, in place of its own, which would import it: there is none.
#include <wasi/api.h>

#include <cstddef>

extern "C" {

__wasi_errno_t __wasi_fd_close(__wasi_fd_t) {
    return __WASI_ERRNO_NOSYS;
}

__wasi_errno_t __wasi_fd_seek(__wasi_fd_t, __wasi_filedelta_t, __wasi_whence_t, __wasi_filesize_t*) {
    return __WASI_ERRNO_NOSYS;
}

__wasi_errno_t __wasi_fd_write(__wasi_fd_t, const __wasi_ciovec_t*, std::size_t, __wasi_size_t*) {
    return __WASI_ERRNO_NOSYS;
}

}  // extern "C"
