// SPDX-License-Identifier: Apache-2.0
// The sequences of polynomials.hpp on vectors. Included inside the namespace of each kernel set.

template <class Vector, unsigned kCount>
ETCH_INLINE Vector horner(const float (&coefficients)[kCount], Vector x) noexcept {
    Vector result = all<Vector>(coefficients[kCount - 1]);
    ETCH_UNROLL
    for (unsigned i = 1; i < kCount; ++i) {
        result = add(mul(result, x), all<Vector>(coefficients[kCount - 1 - i]));
        if constexpr (kLanesOf < Vector >> 16) keep_order(result);
    }
    return result;
}

// x <= 0.
template <class Vector>
ETCH_INLINE Vector exp2(Vector x) noexcept {
    const Vector shifter = all<Vector>(polynomials::kShifter);
    const Vector shifted = add(x, shifter);
    const Vector p = horner(polynomials::kExp2, sub(x, sub(shifted, shifter)));
    return scale_or_clear(p, shifted, x, all<Vector>(polynomials::kExp2Least));
}

// erf(x) of the sign of `x` and the magnitude |x|.
template <class Vector>
ETCH_INLINE Vector erf(Vector magnitude, Vector x) noexcept {
    const Vector z = min(magnitude, all<Vector>(polynomials::kErfLimit));
    const Vector e = exp2(mul(z, horner(polynomials::kErf, z)));
    return with_sign_of(sub(all<Vector>(1.0f), e), x);
}

// 1 <= y <= 2.
template <class Vector>
ETCH_INLINE Vector reciprocal(Vector y) noexcept {
    const Vector two = all<Vector>(2.0f);
    Vector r = horner(polynomials::kReciprocal, y);
    r = mul(r, sub(two, mul(y, r)));
    return mul(r, sub(two, mul(y, r)));
}

template <class Vector>
ETCH_INLINE Vector sigmoid(Vector x) noexcept {
    const Vector e = exp2(mul(absolute(x), all<Vector>(polynomials::kMinusLog2E)));
    const Vector r = reciprocal(add(all<Vector>(1.0f), e));
    return select_if_less(x, all<Vector>(0.0f), mul(e, r), r);
}

// What a pass over a row works on at a time.
constexpr std::uint32_t kBlock = kLanesOf<Wide>;

// z = sigmoid(z). Out of line: four activations come here.
ETCH_NOINLINE void sigmoid_block(float (&z)[kBlock]) noexcept {
    store(z, sigmoid(load<Wide>(z)));
}

ETCH_INLINE Wide sigmoid_by_call(Wide x) noexcept {
    alignas(64) float z[kBlock];
    store(z, x);
    sigmoid_block(z);
    return load<Wide>(z);
}

struct Relu {
    static ETCH_INLINE Wide of(Wide x) noexcept { return max(x, all<Wide>(0.0f)); }
};

struct Gelu {
    static ETCH_INLINE Wide of(Wide x) noexcept {
        const Wide magnitude = absolute(mul(x, all<Wide>(polynomials::kSqrtHalf)));
        const Wide factor = add(all<Wide>(1.0f), erf(magnitude, x));
        return mul(mul(x, all<Wide>(0.5f)), factor);
    }
};

struct GeluTanh {
    static ETCH_INLINE Wide of(Wide x) noexcept {
        const Wide cubic = mul(all<Wide>(polynomials::kGeluTanh3), mul(x, x));
        return mul(x, sigmoid_by_call(mul(x, add(all<Wide>(polynomials::kGeluTanh1), cubic))));
    }
};

struct QuickGelu {
    static ETCH_INLINE Wide of(Wide x) noexcept {
        return mul(x, sigmoid_by_call(mul(all<Wide>(polynomials::kQuickGelu), x)));
    }
};

struct Silu {
    static ETCH_INLINE Wide of(Wide x) noexcept { return mul(x, sigmoid_by_call(x)); }
};

struct Sigmoid {
    static ETCH_INLINE Wide of(Wide x) noexcept { return sigmoid_by_call(x); }
};

struct Tanh {
    static ETCH_INLINE Wide of(Wide x) noexcept {
        const Wide one = all<Wide>(1.0f);
        const Wide e = exp2(mul(absolute(x), all<Wide>(polynomials::kMinusTwoLog2E)));
        return with_sign_of(mul(sub(one, e), reciprocal(add(one, e))), x);
    }
};

// A block is kPanels panels of 16 values, wherever they lie.
constexpr std::uint32_t kPanels = kBlock / 16;

// The panels at places[].
template <class Vector>
ETCH_INLINE Vector load_panels(float* const* places) noexcept {
    if constexpr (std::is_same_v<Vector, Floats>) {
        return load<Floats>(places[0]);
    } else {
        using Half = decltype(Vector::low);
        return {load_panels<Half>(places), load_panels<Half>(places + kLanesOf<Half> / 16)};
    }
}
template <class Vector>
ETCH_INLINE void store_panels(float* const* places, const Vector& x) noexcept {
    if constexpr (std::is_same_v<Vector, Floats>) {
        store(places[0], x);
    } else {
        store_panels(places, x.low);
        store_panels(places + kLanesOf<decltype(Vector::low)> / 16, x.high);
    }
}

// `count` blocks, at least one.
template <class Function>
ETCH_NOINLINE void map(float* const* places, std::size_t count) noexcept {
    for (float* const* const end = places + count * kPanels; places != end; places += kPanels)
        store_panels(places, Function::of(load_panels<Wide>(places)));
}

ETCH_NOINLINE void activate_blocks(Activation activation, float* const* places, std::size_t count) noexcept {
    switch (activation) {
        case Activation::none:
            return;
        case Activation::relu:
            return map<Relu>(places, count);
        case Activation::gelu:
            return map<Gelu>(places, count);
        case Activation::gelu_tanh:
            return map<GeluTanh>(places, count);
        case Activation::quick_gelu:
            return map<QuickGelu>(places, count);
        case Activation::silu:
            return map<Silu>(places, count);
        case Activation::tanh:
            return map<Tanh>(places, count);
        case Activation::sigmoid:
            return map<Sigmoid>(places, count);
    }
}

// Places of panels, activated many at a time: what a call costs and the constants in registers serve seven blocks, as
// many as the largest tile of vector/matmul_vnni.inl has.
class Panels {
  public:
    explicit Panels(Activation activation) noexcept : activation_(activation) {}

    void add(float* place) noexcept {
        places_[count_++] = place;
        if (count_ == kMost) activate();
    }
    void activate() noexcept {
        if (count_ == 0) return;
        for (; count_ % kPanels != 0; ++count_)
            places_[count_] = places_[count_ - 1];  // a block is read before it is written
        activate_blocks(activation_, places_, count_ / kPanels);
        count_ = 0;
    }

  private:
    static constexpr std::uint32_t kMost = 7 * kPanels;
    float* places_[kMost];
    std::uint32_t count_ = 0;
    Activation activation_;
};

// x[r][i] = activation(x[r][i]), i < n, r < rows, `stride` floats between rows.
void apply_activation(Activation activation, float* x, std::uint32_t n, std::uint32_t rows,
                      std::size_t stride) noexcept {
    Panels panels(activation);
    for (; rows != 0; --rows) {
        std::uint32_t column = 0;
        for (; column + 16 <= n; column += 16)
            panels.add(x + column);
        if (column != n) {  // a panel that is cut is activated in a copy
            const FirstLanes lanes(n - column);
            alignas(64) float copy[16];
            store(copy, lanes.read(x + column));
            panels.add(copy);
            panels.activate();
            lanes.write(x + column, load<Floats>(copy));
        }
        x += stride;
    }
    panels.activate();
}

void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountActivateRow);
    apply_activation(activation, x, n, 1, 0);
}
