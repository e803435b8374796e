// SPDX-License-Identifier: Apache-2.0
// cuBLASLt: products as loops, exact for s8, sums in f32 in the order of k for bf16. Refuses what the library or its
// fast kernels would: other forms than TN, odd sizes and alignments, an algorithm that was found for another product.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "faults.hpp"
#include "memory.hpp"
#include "stream.hpp"

namespace {

using namespace etch_stand_in;

struct Description {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    cublasOperation_t transpose_a;
    cublasLtEpilogue_t epilogue;
    const void* bias;
};
static_assert(sizeof(Description) <= sizeof(cublasLtMatmulDescOpaque_t));

struct Layout {
    cudaDataType type;
    std::uint32_t rows;
    std::uint32_t columns;
    std::uint32_t stride;
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

struct Preference {
    std::size_t workspace;
};
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

// What an algorithm was found for.
struct Algorithm {
    std::uint32_t m;
    std::uint32_t n;
    std::uint32_t k;
    std::uint32_t type;
    std::uint32_t epilogue;
    std::uint32_t workspace;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

constexpr std::uint32_t kWorkspace = 4096;

template <class To, class Opaque>
To& as(Opaque* opaque) {
    return *reinterpret_cast<To*>(opaque);
}
template <class To, class Opaque>
const To& as(const Opaque* opaque) {
    return *reinterpret_cast<const To*>(opaque);
}

struct Problem {
    const Description& description;
    const Layout& a;
    const Layout& b;
    const Layout& d;

    std::uint32_t k() const { return a.rows; }
    bool s8() const { return a.type == CUDA_R_8I; }

    bool supported() const {
        const bool types = s8() ? description.compute == CUBLAS_COMPUTE_32I && description.scale == CUDA_R_32I &&
                                      d.type == CUDA_R_32I && description.epilogue == CUBLASLT_EPILOGUE_DEFAULT
                                : a.type == CUDA_R_16BF && description.compute == CUBLAS_COMPUTE_32F &&
                                      description.scale == CUDA_R_32F && d.type == CUDA_R_16BF;
        const bool shapes = b.rows == k() && d.rows == a.columns && d.columns == b.columns && a.stride >= a.rows &&
                            b.stride >= b.rows && d.stride >= d.rows;
        const bool multiples = k() % 16 == 0 && d.rows % 16 == 0 && d.columns % 32 == 0 && a.stride % 16 == 0 &&
                               b.stride % 16 == 0 && d.stride % 16 == 0;
        return types && shapes && multiples && a.type == b.type && description.transpose_a == CUBLAS_OP_T;
    }

    Algorithm algorithm() const {
        return {d.rows,
                d.columns,
                k(),
                static_cast<std::uint32_t>(a.type),
                static_cast<std::uint32_t>(description.epilogue),
                kWorkspace};
    }
};

float float_of(std::uint16_t bf16) {
    const std::uint32_t bits = std::uint32_t{bf16} << 16;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

std::uint16_t bf16_of(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

float finish(cublasLtEpilogue_t epilogue, float x) {
    if (epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) return x > 0.0f ? x : 0.0f;
    if (epilogue == CUBLASLT_EPILOGUE_GELU_BIAS)
        return 0.5f * x * (1.0f + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    return x;
}

bool readable(const void* begin, std::size_t bytes) {
    return where_is(begin, bytes) == Where::device;
}

bool aligned(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 256 == 0;
}

__attribute__((optimize("O3"), noinline)) std::int32_t dot(const std::int8_t* x, const std::int8_t* y,
                                                           std::uint32_t n) {
    std::int32_t sum = 0;
    for (std::uint32_t i = 0; i < n; ++i)
        sum += std::int16_t{x[i]} * std::int16_t{y[i]};
    return sum;
}

// k in order, vectorized across outputs: `weights` is transposed, [k][outputs].
__attribute__((optimize("O3"), noinline)) void add_scaled(float* sums, const float* weights, float x, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i)
        sums[i] += x * weights[i];
}

void multiply_s8(const std::int8_t* weights, const std::int8_t* in, std::int32_t* out, std::uint32_t outputs,
                 std::uint32_t rows, std::uint32_t k) {
    for (std::uint32_t row = 0; row < rows; ++row) {
        for (std::uint32_t n = 0; n < outputs; ++n)
            out[std::size_t{row} * outputs + n] = dot(weights + std::size_t{n} * k, in + std::size_t{row} * k, k);
    }
}

void multiply_bf16(const std::uint16_t* weights, const std::uint16_t* in, const std::uint16_t* bias, std::uint16_t* out,
                   cublasLtEpilogue_t epilogue, std::uint32_t outputs, std::uint32_t rows, std::uint32_t k) {
    std::vector<float> transposed(std::size_t{k} * outputs);
    for (std::uint32_t n = 0; n < outputs; ++n) {
        for (std::uint32_t i = 0; i < k; ++i)
            transposed[std::size_t{i} * outputs + n] = float_of(weights[std::size_t{n} * k + i]);
    }
    std::vector<float> sums(outputs);
    for (std::uint32_t row = 0; row < rows; ++row) {
        for (std::uint32_t n = 0; n < outputs; ++n)
            sums[n] = 0.0f;
        for (std::uint32_t i = 0; i < k; ++i)
            add_scaled(sums.data(), transposed.data() + std::size_t{i} * outputs,
                       float_of(in[std::size_t{row} * k + i]), outputs);
        for (std::uint32_t n = 0; n < outputs; ++n)
            out[std::size_t{row} * outputs + n] = bf16_of(finish(epilogue, sums[n] + float_of(bias[n])));
    }
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* library) {
    if (const cublasStatus_t error = enter_library("cublasLtCreate")) return error;
    *library = reinterpret_cast<cublasLtHandle_t>(new int);
    ++alive().libraries;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t library) {
    const cublasStatus_t error = enter_library("cublasLtDestroy");
    delete reinterpret_cast<int*>(library);
    --alive().libraries;
    return error;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t description, std::size_t,
                                               cublasComputeType_t compute, cudaDataType_t scale) {
    if (const cublasStatus_t error = enter_library("cublasLtMatmulDescInit")) return error;
    as<Description>(description) = {compute, scale, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, const void* value,
                                              std::size_t size) {
    if (const cublasStatus_t error = enter_library("cublasLtMatmulDescSetAttribute")) return error;
    Description& d = as<Description>(description);
    void* to = nullptr;
    std::size_t wanted = 0;
    switch (attribute) {
        case CUBLASLT_MATMUL_DESC_TRANSA:
            to = &d.transpose_a, wanted = sizeof(std::int32_t);
            break;
        case CUBLASLT_MATMUL_DESC_EPILOGUE:
            to = &d.epilogue, wanted = sizeof(std::uint32_t);
            break;
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
            to = &d.bias, wanted = sizeof(void*);
            break;
        default:
            return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (size != wanted) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(to, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, std::size_t, cudaDataType type,
                                                 std::uint64_t rows, std::uint64_t columns, std::int64_t stride) {
    if (const cublasStatus_t error = enter_library("cublasLtMatrixLayoutInit")) return error;
    as<Layout>(layout) = {type, static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns),
                          static_cast<std::uint32_t>(stride)};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, std::size_t) {
    if (const cublasStatus_t error = enter_library("cublasLtMatmulPreferenceInit")) return error;
    as<Preference>(preference) = {0};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t size) {
    if (const cublasStatus_t error = enter_library("cublasLtMatmulPreferenceSetAttribute")) return error;
    if (attribute != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES || size != sizeof(std::size_t))
        return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&as<Preference>(preference).workspace, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
    *found = 0;
    if (const cublasStatus_t error = enter_library("cublasLtMatmulAlgoGetHeuristic")) return error;
    const Problem problem{as<Description>(description), as<Layout>(a), as<Layout>(b), as<Layout>(d)};
    if (!problem.supported() || wanted < 1 || as<Preference>(preference).workspace < kWorkspace)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    *results = {};
    as<Algorithm>(&results->algo) = problem.algorithm();
    results->workspaceSize = kWorkspace;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void*, cublasLtMatrixLayout_t, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
    if (const cublasStatus_t error = enter_library("cublasLtMatmul")) return error;
    const Problem problem{as<Description>(description), as<Layout>(a_layout), as<Layout>(b_layout),
                          as<Layout>(d_layout)};
    const Algorithm wanted = problem.algorithm();
    if (!problem.supported() || std::memcmp(&wanted, algorithm, sizeof wanted) != 0) return CUBLAS_STATUS_INVALID_VALUE;
    const bool s8 = problem.s8();
    const std::size_t operand = s8 ? 1 : 2, result = s8 ? 4 : 2;
    const std::uint32_t outputs = problem.d.rows, rows = problem.d.columns, k = problem.k();
    if (problem.a.stride != k || problem.b.stride != k || problem.d.stride != outputs)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool pointers = aligned(a) && aligned(b) && aligned(d) && aligned(workspace) &&
                          readable(a, operand * outputs * k) && readable(b, operand * rows * k) &&
                          readable(d, result * outputs * rows) && readable(workspace, workspace_bytes) &&
                          workspace_bytes >= kWorkspace && (s8 || readable(problem.description.bias, 2 * outputs));
    const bool scales =
        s8 ? *static_cast<const std::int32_t*>(alpha) == 1 && *static_cast<const std::int32_t*>(beta) == 0
           : *static_cast<const float*>(alpha) == 1.0f && *static_cast<const float*>(beta) == 0.0f;
    if (!pointers || !scales) return CUBLAS_STATUS_INVALID_VALUE;
    const Description described = problem.description;
    const cudaError_t error = submit(stream, [=] {
        std::memset(workspace, 0x5A, kWorkspace);
        if (s8) {
            multiply_s8(static_cast<const std::int8_t*>(a), static_cast<const std::int8_t*>(b),
                        static_cast<std::int32_t*>(d), outputs, rows, k);
        } else {
            multiply_bf16(static_cast<const std::uint16_t*>(a), static_cast<const std::uint16_t*>(b),
                          static_cast<const std::uint16_t*>(described.bias), static_cast<std::uint16_t*>(d),
                          described.epilogue, outputs, rows, k);
        }
    });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
