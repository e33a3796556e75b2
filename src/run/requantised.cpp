#include "src/run/requantised.h"

#include <fmt/format.h>

#include <cmath>

#include "src/run/blockwise.h"
#include "tilewright/number/block_scale.h"
#include "tilewright/number/convert.h"

namespace tw {

namespace {

using Family = RequantisedFamily;
using Scaled = ScaledTrial<Family>;
constexpr std::int64_t block = 128;

// One block of a row, as a kernel left it, against its values before they were quantised.
class Block {
 public:
  Block(std::span<const Expected> values, BlockScale rule) : values_(values), rule_(rule) {
    for (const Expected& value : values) {
      low_ = std::max(low_, std::abs(value.value) - value.error);
      high_ = std::max(high_, std::abs(value.value) + value.error);
      is_exact_ = is_exact_ && value.error == 0.0;
    }
  }
  bool is_exact() const { return is_exact_; }
  // Of exact values there is one scale. Otherwise it lies between those of the least and the most
  // that the largest value can be; where that may be zero, it may be 1.
  bool has(double scale) const {
    if (is_exact_) return scale == of(high_);
    constexpr double slack = 1.0 + 0x1p-20;
    if (low_ <= 0.0 && scale == 1.0) return true;
    return scale * slack >= (low_ > 0.0 ? of(low_) : 0x1p-126) && scale <= of(high_) * slack;
  }
  // Casting never reverses an order: an element lies between the casts of the least and the most
  // that its value can be, with a share of the error. The scale's reciprocal and the product with
  // it are rounded to float32.
  bool has(std::size_t i, double scale, double element, double share) const {
    const Expected& value = values_[i];
    if (is_exact_) {
      const auto inverse = 1.0f / static_cast<float>(scale);
      return element == to_float(scaled_element<E4m3>(static_cast<float>(value.value), inverse));
    }
    const double error = share * value.error + std::ldexp(std::abs(value.value), -21);
    return rounded_to(ElementType::E4m3, (value.value - error) / scale) <= element &&
           element <= rounded_to(ElementType::E4m3, (value.value + error) / scale);
  }

 private:
  double of(double amax) const { return block_scale<E4m3>(static_cast<float>(amax), rule_); }

  std::span<const Expected> values_;
  BlockScale rule_;
  double low_ = 0.0, high_ = 0.0;
  bool is_exact_ = true;
};

class RequantisedAnswer : public Answer {
 public:
  RequantisedAnswer(MatmulReference reference, const Case& of)
      : values_(std::move(reference.d)), beside_(std::move(reference)), fill_(of.fill) {
    beside_.d.clear();
  }
  Comparison compare(const HostProblem& ran) const override {
    const HostMatrix &d = ran.tensor(Family::d), &scales = ran.tensor(Family::d_scales);
    MatmulData data = product_data(ran, fill_);
    data.d = {};
    Comparison result = tw::compare(data, beside_);
    for (const HostMatrix* written : {&d, &scales}) {
      if (written->exists()) result.padding_touched += written->padding_touched();
    }
    const BlockScale rule = ran.problem().as<Family::Problem>().powers_of_two != 0
                                ? BlockScale::power_of_two
                                : BlockScale::real;
    for (std::int64_t batch = 0; batch < d.batch; ++batch) {
      for (std::int64_t row = 0; row < d.rows; ++row) {
        for (std::int64_t first = 0; first < d.columns; first += block) {
          judge(result, d, scales, batch, row, first, rule);
        }
      }
    }
    return result;
  }

 private:
  void judge(Comparison& result, const HostMatrix& d, const HostMatrix& scales, std::int64_t batch,
             std::int64_t row, std::int64_t first, BlockScale rule) const {
    const auto at = static_cast<std::size_t>((batch * d.rows + row) * d.columns + first);
    const auto count = static_cast<std::size_t>(std::min(block, d.columns - first));
    const Block values(std::span<const Expected>(values_).subspan(at, count), rule);
    result.exact = result.exact && values.is_exact();
    const double scale = scales.at(batch, row, first / block);
    const auto wrong = [&](const char* what, std::int64_t column, double found) {
      if (result.wrong++ > 0) return;
      result.first = fmt::format(
          "The first: {} at batch {}, row {}, column {} is {}; the block's "
          "scale is {}.",
          what, batch, row, column, found, scale);
    };
    if (!values.has(scale)) wrong("the scale of D", first / block, scale);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t column = first + static_cast<std::int64_t>(i);
      const double element = d.at(batch, row, column);
      if (!values.has(i, scale, element, 1.0)) wrong("D", column, element);
      for (double share = result.worst; share < 1.0 && !values.has(i, scale, element, share);) {
        result.worst = share += 1.0 / 64;
      }
    }
  }

  std::vector<Expected> values_;  // before they are quantised
  MatmulReference beside_;        // the auxiliary output and amax
  Fill fill_;
};

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  return std::make_shared<RequantisedAnswer>(Scaled::reference(of, given), of);
}

}  // namespace

const Trial requantised_trial = {.description = &Family::description,
                                 .instances = requantised_instances,
                                 .adopt = Scaled::adopt,
                                 .settle = Scaled::settle,
                                 .random = Scaled::random,
                                 .fill = Scaled::fill,
                                 .answer = answer,
                                 .list = nullptr};

}  // namespace tw
