// Random epilogues, and the dice that throw them.
#pragma once

#include <cstdint>
#include <random>

#include "src/instances/shape.h"

namespace tw {

class Dice {
 public:
  explicit Dice(std::mt19937_64& random) : random_(random) {}
  bool one_in(unsigned count) { return random_() % count == 0; }
  std::int64_t up_to(std::int64_t limit) {
    return 1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
  }
  template <class T, std::size_t count>
  T one_of(const T (&values)[count]) {
    return values[random_() % count];
  }
  std::int64_t extent(std::int64_t largest) {
    switch (random_() % 10) {
      case 0: return 1;
      case 1: return largest < 64 ? largest : 64 * up_to(largest / 64);
      case 2: return one_in(8) ? 0 : 8;
      default: return up_to(largest);
    }
  }

 private:
  std::mt19937_64& random_;
};

inline EpilogueShape random_epilogue(Dice& dice) {
  constexpr ElementType float_types[] = {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32};
  // Powers of two: integers stay exact.
  constexpr float scales[] = {1.0f, 1.0f, 2.0f, -0.5f};
  EpilogueShape epilogue;
  epilogue.alpha = dice.one_of(scales);
  if (dice.one_in(3)) epilogue.beta = dice.one_of(scales);
  if (dice.one_in(3)) epilogue.column_bias = true;
  epilogue.source_type = dice.one_of(float_types);
  epilogue.bias_type = dice.one_of(float_types);
  epilogue.auxiliary_type = dice.one_of(float_types);
  if (dice.one_in(2)) return epilogue;
  epilogue.row_bias = dice.one_in(4);
  epilogue.column_scale = dice.one_in(4);
  epilogue.row_scale = dice.one_in(4);
  epilogue.gated = dice.one_in(4);
  epilogue.auxiliary = dice.one_in(4);
  epilogue.amax = dice.one_in(4);
  if (dice.one_in(2)) {
    const Activation activations[] = {Activation::Relu, Activation::Gelu, Activation::Silu,
                                      Activation::Tanh, Activation::Clamp};
    epilogue.activation = dice.one_of(activations);
  }
  if (epilogue.activation == Activation::Clamp) {
    epilogue.clamp_low = -static_cast<float>(dice.up_to(8));
    epilogue.clamp_high = static_cast<float>(dice.up_to(40));
  }
  return epilogue;
}

// Integers stay integers, and sums of few of them exact.
inline EpilogueShape random_integer_epilogue(Dice& dice) {
  EpilogueShape epilogue;
  epilogue.beta = dice.one_in(3) ? 1.0f : 0.0f;
  epilogue.column_bias = dice.one_in(3);
  if (dice.one_in(3)) epilogue.activation = Activation::Relu;
  return epilogue;
}

}  // namespace tw
