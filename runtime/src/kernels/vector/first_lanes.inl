// SPDX-License-Identifier: Apache-2.0
// Part of sixteen floats, for instruction sets without masked loads and stores. Included inside the namespace of such a
// kernel set, behind its Floats.

// The first `count` of 16, 1 to 16; the others load as +0.0f and are not stored, nor is their memory touched.
class FirstLanes {
  public:
    explicit FirstLanes(std::uint32_t count) noexcept : count_(count) {}

    Floats read(const float* p) const noexcept { return read_or(p, all<Floats>(0.0f)); }
    // The other lanes are those of `other`.
    Floats read_or(const float* p, Floats other) const noexcept {
        float values[16];
        store(values, other);
        for (std::uint32_t i = 0; i < count_; ++i)
            values[i] = p[i];
        return load<Floats>(values);
    }
    void write(float* p, Floats x) const noexcept {
        float values[16];
        store(values, x);
        for (std::uint32_t i = 0; i < count_; ++i)
            p[i] = values[i];
    }
    void write_bytes(std::int8_t* p, const std::int8_t (&bytes)[16]) const noexcept {
        for (std::uint32_t i = 0; i < count_; ++i)
            p[i] = bytes[i];
    }
    // The other lanes become +0.0f.
    Floats keep(Floats x) const noexcept {
        float values[16];
        store(values, x);
        return read(values);
    }

  private:
    std::uint32_t count_;
};
