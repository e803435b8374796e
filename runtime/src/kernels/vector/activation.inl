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

// The whole panels of some rows, a row after the other.
class Panels {
  public:
    // `of_a_row` and `rows` at least one; `stride` floats between rows.
    Panels(float* x, std::uint32_t of_a_row, std::uint32_t rows, std::size_t stride) noexcept
        : next_(x),
          left_(of_a_row * rows),
          left_in_row_(of_a_row),
          of_a_row_(of_a_row),
          to_next_row_(stride - (of_a_row - 1) * std::size_t{16}) {}

    bool any() const noexcept { return left_ != 0; }
    // Behind the last one this one again: a block is read before it is written.
    float* take() noexcept {
        float* const place = next_;
        if (left_ != 0) --left_;
        if (left_ == 0) return place;
        const bool row_ends = --left_in_row_ == 0;
        next_ += row_ends ? to_next_row_ : 16;
        if (row_ends) left_in_row_ = of_a_row_;
        return place;
    }

  private:
    float* next_;
    std::uint32_t left_;
    std::uint32_t left_in_row_;
    std::uint32_t of_a_row_;
    std::size_t to_next_row_;
};

// The arguments are those of Panels. They come in registers: a struct that was just written in parts is read as a whole
// only when all stores before are in the cache, those of the product among them: 3 % of a GELU.
template <class Function>
ETCH_NOINLINE void map(float* x, std::uint32_t of_a_row, std::uint32_t rows, std::size_t stride) noexcept {
    Panels panels(x, of_a_row, rows, stride);
    do {
        float* places[kPanels];
        ETCH_UNROLL
        for (std::uint32_t p = 0; p < kPanels; ++p)
            places[p] = panels.take();
        store_panels(places, Function::of(load_panels<Wide>(places)));
    } while (panels.any());
}

ETCH_NOINLINE void activate_panels(Activation activation, float* x, std::uint32_t of_a_row, std::uint32_t rows,
                                   std::size_t stride) noexcept {
    switch (activation) {
        case Activation::none:
            return;
        case Activation::relu:
            return map<Relu>(x, of_a_row, rows, stride);
        case Activation::gelu:
            return map<Gelu>(x, of_a_row, rows, stride);
        case Activation::gelu_tanh:
            return map<GeluTanh>(x, of_a_row, rows, stride);
        case Activation::quick_gelu:
            return map<QuickGelu>(x, of_a_row, rows, stride);
        case Activation::silu:
            return map<Silu>(x, of_a_row, rows, stride);
        case Activation::tanh:
            return map<Tanh>(x, of_a_row, rows, stride);
        case Activation::sigmoid:
            return map<Sigmoid>(x, of_a_row, rows, stride);
    }
}

// x[r][i] = activation(x[r][i]), i < n, r < rows, `stride` floats between rows. Panels that are cut are activated in a
// copy: out of line, or every product that ends so would have it on its stack.
ETCH_NOINLINE void apply_activation(Activation activation, float* x, std::uint32_t n, std::uint32_t rows,
                                    std::size_t stride) noexcept {
    const std::uint32_t whole = n / 16;
    if (whole != 0) activate_panels(activation, x, whole, rows, stride);
    if (n % 16 == 0) return;
    const FirstLanes lanes(n % 16);
    for (float* cut = x + whole * 16; rows != 0; --rows) {
        alignas(64) float copy[16];
        store(copy, lanes.read(cut));
        activate_panels(activation, copy, 1, 1, 0);
        lanes.write(cut, load<Floats>(copy));
        cut += stride;
    }
}

void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountActivateRow);
    apply_activation(activation, x, n, 1, 0);
}
