// SPDX-License-Identifier: Apache-2.0
#include "matmul.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {
namespace {

Matmul::Kind kind_of(Epilogue epilogue) noexcept {
    switch (epilogue) {
        case Epilogue::bias_relu:
            return Matmul::Kind::bf16_relu;
        case Epilogue::bias_gelu:
            return Matmul::Kind::bf16_gelu;
        case Epilogue::bias:
            break;
    }
    return Matmul::Kind::bf16;
}

cublasLtEpilogue_t epilogue_of(Matmul::Kind kind) noexcept {
    switch (kind) {
        case Matmul::Kind::bf16:
            return CUBLASLT_EPILOGUE_BIAS;
        case Matmul::Kind::bf16_relu:
            return CUBLASLT_EPILOGUE_RELU_BIAS;
        case Matmul::Kind::bf16_gelu:
            return CUBLASLT_EPILOGUE_GELU_BIAS;
        case Matmul::Kind::s8:
            break;
    }
    return CUBLASLT_EPILOGUE_DEFAULT;
}

// What cuBLASLt wants to be described, without its allocations.
struct Description {
    cublasLtMatmulDescOpaque_t matmul;
    cublasLtMatrixLayoutOpaque_t weights;
    cublasLtMatrixLayoutOpaque_t in;
    cublasLtMatrixLayoutOpaque_t out;
};

class Calls {
  public:
    template <class Call>
    Calls& then(Call call) noexcept {
        if (status == CUBLAS_STATUS_SUCCESS) status = call();
        return *this;
    }

    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
};

template <class Value>
cublasStatus_t set(Description& description, cublasLtMatmulDescAttributes_t attribute, const Value& value) noexcept {
    return cublasLtMatmulDescSetAttribute(&description.matmul, attribute, &value, sizeof value);
}

cublasStatus_t describe(const Matmul& m, Description& to) noexcept {
    const bool s8 = m.kind == Matmul::Kind::s8;
    const cudaDataType operand = s8 ? CUDA_R_8I : CUDA_R_16BF;
    const cudaDataType result = s8 ? CUDA_R_32I : CUDA_R_16BF;
    Calls calls;
    calls
        .then([&] {
            return cublasLtMatmulDescInit(&to.matmul, s8 ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F,
                                          s8 ? CUDA_R_32I : CUDA_R_32F);
        })
        .then([&] { return set(to, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T); })
        .then([&] { return cublasLtMatrixLayoutInit(&to.weights, operand, m.inputs, m.outputs, m.inputs); })
        .then([&] { return cublasLtMatrixLayoutInit(&to.in, operand, m.inputs, m.rows, m.inputs); })
        .then([&] { return cublasLtMatrixLayoutInit(&to.out, result, m.outputs, m.rows, m.outputs); });
    if (!s8) {
        calls.then([&] { return set(to, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(m.kind)); }).then([&] {
            return set(to, CUBLASLT_MATMUL_DESC_BIAS_POINTER, m.bias);
        });
    }
    return calls.status;
}

}  // namespace

Matmul matmul_of(const ProductS8& p) noexcept {
    return {Matmul::Kind::s8,
            p.rows.multiplied,
            padded(p.linear.outputs),
            padded(p.linear.inputs),
            p.in.q,
            p.linear.weights,
            nullptr,
            p.out.sums};
}

Matmul matmul_of(const ProductBf16& p) noexcept {
    return {kind_of(p.epilogue),     p.rows.multiplied, padded(p.linear.outputs),
            padded(p.linear.inputs), p.in.values,       p.linear.weights,
            p.linear.bias,           p.out.values};
}

cublasStatus_t ask(cublasLtHandle_t library, const Matmul& matmul, std::size_t workspace_bytes,
                   cublasLtMatmulAlgo_t& algorithm) noexcept {
    Description description;
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    Calls calls;
    calls.then([&] { return describe(matmul, description); })
        .then([&] { return cublasLtMatmulPreferenceInit(&preference); })
        .then([&] {
            return cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                        &workspace_bytes, sizeof workspace_bytes);
        })
        .then([&] {
            return cublasLtMatmulAlgoGetHeuristic(library, &description.matmul, &description.weights, &description.in,
                                                  &description.out, &description.out, &preference, 1, &found, &count);
        })
        .then([&] { return count == 1 ? found.state : CUBLAS_STATUS_NOT_SUPPORTED; });
    algorithm = found.algo;
    return calls.status;
}

cublasStatus_t multiply(cublasLtHandle_t library, const Matmul& matmul, const cublasLtMatmulAlgo_t& algorithm,
                        void* workspace, std::size_t workspace_bytes, cudaStream_t stream) noexcept {
    const std::int32_t one_s32 = 1, zero_s32 = 0;
    const float one_f32 = 1.0f, zero_f32 = 0.0f;
    const bool s8 = matmul.kind == Matmul::Kind::s8;
    const void* const one = s8 ? static_cast<const void*>(&one_s32) : &one_f32;
    const void* const zero = s8 ? static_cast<const void*>(&zero_s32) : &zero_f32;
    Description description;
    Calls calls;
    calls.then([&] { return describe(matmul, description); }).then([&] {
        return cublasLtMatmul(library, &description.matmul, one, matmul.weights, &description.weights, matmul.in,
                              &description.in, zero, matmul.out, &description.out, matmul.out, &description.out,
                              &algorithm, workspace, workspace_bytes, stream);
    });
    return calls.status;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
