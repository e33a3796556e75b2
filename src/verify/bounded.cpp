#include "src/verify/bounded.h"

#include "tilewright/epilogue/formula.h"

namespace tw {

Bounded activated(const Bounded& x, const ActivationArguments& arguments) {
  Bounded result = x;
  double slope = 1.1;  // the steepest of any smooth activation is gelu's, 1.13
  const auto smooth = [&](double value, const auto& formula) {
    result.value = value;
    // exp, tanh or erf and the few operations around them, in float32.
    result.error = slope * x.error + std::ldexp(std::abs(x.value) + 1.0, -20);
    result.unit = 0.0;
    // Every target makes the same bits of the same bits; a formula that is wrong counts for
    // nothing.
    const double made = formula(static_cast<float>(x.value));
    if (x.error == 0.0 && std::abs(made - value) <= result.error) result = Bounded::exactly(made);
  };
  switch (arguments.activation) {
    case Activation::None: break;
    case Activation::Relu: result.value = std::max(x.value, 0.0); break;
    case Activation::Clamp:
      result.value = std::clamp(x.value, arguments.clamp_low, arguments.clamp_high);
      result.unit =
          std::min({x.unit, lowest_bit(arguments.clamp_low), lowest_bit(arguments.clamp_high)});
      break;
    case Activation::Gelu:
      slope = 1.13;
      smooth(0.5 * x.value * (1.0 + std::erf(x.value * std::sqrt(0.5))), formula::Gelu{});
      break;
    case Activation::Silu: smooth(x.value / (1.0 + std::exp(-x.value)), formula::Silu{}); break;
    case Activation::Tanh: smooth(std::tanh(x.value), formula::Tanh{}); break;
  }
  return result;
}

}  // namespace tw
