// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "faults.hpp"
#include "stream.hpp"

namespace etch_stand_in {
namespace {

constexpr unsigned char kFill = 0xFF;          // NaN as f32, f16 and bf16
constexpr std::size_t kFilledBytes = 4 << 20;  // of an allocation: pages that nobody touches cost nothing
constexpr unsigned char kBehind = 0xA5;

struct Allocation {
    std::size_t bytes;   // asked for
    std::size_t mapped;  // pages, without the guards
};

struct Memory {
    std::recursive_mutex mutex;
    std::map<std::uintptr_t, Allocation> device;
    std::map<std::uintptr_t, std::size_t> pinned;
    int open = 0;
    int overruns = 0;
};

Memory& memory() {
    static Memory only;
    return only;
}

std::size_t page() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void protect_all(int protection) {
    for (const auto& [begin, allocation] : memory().device)
        mprotect(reinterpret_cast<void*>(begin), allocation.mapped, protection);
}

template <class Map>
Where where_in(const Map& map, std::uintptr_t begin, std::size_t count, Where kind) {
    auto next = map.upper_bound(begin);
    if (next == map.begin()) return Where::elsewhere;
    const auto& [at, held] = *--next;
    std::size_t bytes;
    if constexpr (std::is_same_v<std::decay_t<decltype(held)>, Allocation>) {
        bytes = held.bytes;
    } else {
        bytes = held;
    }
    if (begin >= at + bytes) return Where::elsewhere;
    return begin + count <= at + bytes ? kind : Where::outside;
}

cudaError_t allocate(void** out, std::size_t bytes) {
    Memory& m = memory();
    if (bytes == 0 || alive().device_bytes + bytes > machine().memory_bytes) return cudaErrorMemoryAllocation;
    const std::size_t mapped = (bytes + page() - 1) / page() * page();
    void* const begin = mmap(nullptr, mapped + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) return cudaErrorMemoryAllocation;
    unsigned char* const first = static_cast<unsigned char*>(begin) + page();
    mprotect(first, mapped, PROT_READ | PROT_WRITE);
    std::memset(first, kFill, bytes < kFilledBytes ? bytes : kFilledBytes);
    std::memset(first + bytes, kBehind, mapped - bytes);
    if (m.open == 0) mprotect(first, mapped, PROT_NONE);
    m.device[reinterpret_cast<std::uintptr_t>(first)] = {bytes, mapped};
    ++alive().device_allocations;
    ++alive().taken;
    alive().device_bytes += bytes;
    *out = first;
    return cudaSuccess;
}

cudaError_t release(void* at) {
    Memory& m = memory();
    const auto found = m.device.find(reinterpret_cast<std::uintptr_t>(at));
    if (found == m.device.end()) return cudaErrorInvalidValue;
    const Allocation allocation = found->second;
    unsigned char* const first = static_cast<unsigned char*>(at);
    mprotect(first, allocation.mapped, PROT_READ | PROT_WRITE);
    for (std::size_t i = allocation.bytes; i < allocation.mapped; ++i) {
        if (first[i] != kBehind) {
            ++m.overruns;
            break;
        }
    }
    munmap(first - page(), allocation.mapped + 2 * page());
    m.device.erase(found);
    --alive().device_allocations;
    alive().device_bytes -= allocation.bytes;
    return cudaSuccess;
}

bool copies(const void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
    const Where target = where_is(to, count), source = where_is(from, count);
    if (target == Where::outside || source == Where::outside) return false;
    const bool to_device = target == Where::device, from_device = source == Where::device;
    switch (kind) {
        case cudaMemcpyHostToDevice:
            return to_device && !from_device;
        case cudaMemcpyDeviceToHost:
            return !to_device && from_device;
        case cudaMemcpyDeviceToDevice:
            return to_device && from_device;
        default:
            return false;
    }
}

}  // namespace

DeviceAccess::DeviceAccess() {
    memory().mutex.lock();
    if (memory().open++ == 0) protect_all(PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() {
    if (--memory().open == 0) protect_all(PROT_NONE);
    memory().mutex.unlock();
}

Where where_is(const void* begin, std::size_t count) {
    const auto at = reinterpret_cast<std::uintptr_t>(begin);
    const std::lock_guard lock(memory().mutex);
    const Where device = where_in(memory().device, at, count, Where::device);
    return device != Where::elsewhere ? device : where_in(memory().pinned, at, count, Where::pinned);
}

int overruns() {
    return memory().overruns;
}

}  // namespace etch_stand_in

using namespace etch_stand_in;

extern "C" {

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
    if (const cudaError_t error = enter_cuda("cudaMalloc")) return error;
    const std::lock_guard lock(memory().mutex);
    return allocate(at, bytes);
}

// A call that releases something and fails has released it all the same: nobody could try again.
cudaError_t cudaFree(void* at) {
    const cudaError_t error = enter_cuda("cudaFree");
    const std::lock_guard lock(memory().mutex);
    const cudaError_t released = at == nullptr ? cudaSuccess : release(at);
    return error != cudaSuccess ? error : released;
}

cudaError_t cudaMallocHost(void** at, std::size_t bytes) {
    if (const cudaError_t error = enter_cuda("cudaMallocHost")) return error;
    const std::lock_guard lock(memory().mutex);
    *at = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (*at == nullptr) return cudaErrorMemoryAllocation;
    std::memset(*at, kFill, bytes);
    memory().pinned[reinterpret_cast<std::uintptr_t>(*at)] = bytes;
    ++alive().host_allocations;
    ++alive().taken;
    alive().host_bytes += bytes;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void* at) {
    const cudaError_t error = enter_cuda("cudaFreeHost");
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().pinned.find(reinterpret_cast<std::uintptr_t>(at));
    if (found == memory().pinned.end()) return at == nullptr ? error : cudaErrorInvalidValue;
    --alive().host_allocations;
    alive().host_bytes -= found->second;
    memory().pinned.erase(found);
    std::free(at);
    return error;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
    if (const cudaError_t error = enter_cuda("cudaMemGetInfo")) return error;
    *total = machine().memory_bytes;
    *free_bytes = *total - alive().device_bytes;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
    if (const cudaError_t error = enter_cuda("cudaMemcpyAsync")) return error;
    if (!copies(to, from, count, kind)) return cudaErrorInvalidValue;
    return submit(stream, [=] { std::memcpy(to, from, count); });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
    if (const cudaError_t error = enter_cuda("cudaMemcpy")) return error;
    if (!copies(to, from, count, kind)) return cudaErrorInvalidValue;
    const DeviceAccess access;
    std::memcpy(to, from, count);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t count, cudaStream_t stream) {
    if (const cudaError_t error = enter_cuda("cudaMemsetAsync")) return error;
    if (where_is(to, count) != Where::device) return cudaErrorInvalidValue;
    return submit(stream, [=] { std::memset(to, value, count); });
}

cudaError_t cudaMemset(void* to, int value, std::size_t count) {
    if (const cudaError_t error = enter_cuda("cudaMemset")) return error;
    if (where_is(to, count) != Where::device) return cudaErrorInvalidValue;
    const DeviceAccess access;
    std::memset(to, value, count);
    return cudaSuccess;
}
}
