// A product's D that is quantised block by block of its columns, and the scales of these, against
// the values before they were quantised.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "src/verify/product.h"
#include "tilewright/number/block_scale.h"
#include "tilewright/number/convert.h"

namespace tw {

// What a family knows of blocks and scales.
struct QuantisedBlocks {
  std::int64_t columns;  // columns of a block
  double smallest;       // scale
  double rounding;       // error of a value that is multiplied by the reciprocal of its scale
  std::function<double(double amax)> scale_of;
  std::function<double(std::int64_t batch, std::int64_t row, std::int64_t block)> scale_at;
};

class QuantisedAnswer : public Answer {
 public:
  // Tells the blocks of a problem that ran. What else must hold, such as that padding is untouched,
  // goes into the comparison.
  using BlocksOf = std::function<QuantisedBlocks(const HostProblem& ran, Comparison&)>;

  // `touched` counts what must have been left alone; `has` tells whether a row was to be written.
  QuantisedAnswer(
      MatmulReference reference, Fill fill, unsigned d, BlocksOf blocks_of,
      std::function<std::int64_t(const HostProblem&)> touched = [](const auto&) { return 0; },
      std::function<bool(std::int64_t row)> has = [](std::int64_t) { return true; })
      : values_(std::move(reference.d)),
        beside_(std::move(reference)),
        fill_(fill),
        d_(d),
        blocks_of_(std::move(blocks_of)),
        touched_(std::move(touched)),
        has_(std::move(has)) {
    beside_.d.clear();
  }
  Comparison compare(const HostProblem& ran) const override {
    const HostMatrix& d = ran.tensor(d_);
    MatmulData data = product_data(ran, fill_);
    data.d = {};
    Comparison result = tw::compare(data, beside_);
    if (!d.exists()) return result;
    result.padding_touched += d.padding_touched() + touched_(ran);
    const QuantisedBlocks blocks = blocks_of_(ran, result);
    for (std::int64_t batch = 0; batch < d.batch; ++batch) {
      for (std::int64_t row = 0; row < d.rows; ++row) {
        if (!has_(row)) continue;
        for (std::int64_t first = 0; first < d.columns; first += blocks.columns) {
          judge(result, d, blocks, batch, row, first);
        }
      }
    }
    return result;
  }

 private:
  // One block of a row, as a kernel left it.
  class Block {
   public:
    Block(std::span<const Expected> values, const QuantisedBlocks& of) : values_(values), of_(of) {
      for (const Expected& value : values) {
        low_ = std::max(low_, std::abs(value.value) - value.error);
        high_ = std::max(high_, std::abs(value.value) + value.error);
        is_exact_ = is_exact_ && value.error == 0.0;
      }
    }
    bool is_exact() const { return is_exact_; }
    // Exact values have one scale. Otherwise it lies between those of the least and the most that
    // the largest value can be; where that may be zero, it may be the scale of zeros.
    bool has(double scale) const {
      if (is_exact_) return scale == of_.scale_of(high_);
      constexpr double slack = 1.0 + 0x1p-20;
      if (low_ <= 0.0 && scale == of_.scale_of(0.0)) return true;
      return scale * slack >= (low_ > 0.0 ? of_.scale_of(low_) : of_.smallest) &&
             scale <= of_.scale_of(high_) * slack;
    }
    // Casting never reverses an order: an element lies between the casts of the least and the most
    // that its value can be, with a share of the error.
    bool has(std::size_t i, double scale, double element, double share) const {
      const Expected& value = values_[i];
      if (is_exact_) {
        const auto inverse = 1.0f / static_cast<float>(scale);
        return element == to_float(scaled_element<E4m3>(static_cast<float>(value.value), inverse));
      }
      const double error = share * value.error + std::abs(value.value) * of_.rounding;
      return rounded_to(ElementType::E4m3, (value.value - error) / scale) <= element &&
             element <= rounded_to(ElementType::E4m3, (value.value + error) / scale);
    }

   private:
    std::span<const Expected> values_;
    const QuantisedBlocks& of_;
    double low_ = 0.0, high_ = 0.0;
    bool is_exact_ = true;
  };

  void judge(Comparison& result, const HostMatrix& d, const QuantisedBlocks& blocks,
             std::int64_t batch, std::int64_t row, std::int64_t first) const {
    const auto at = static_cast<std::size_t>((batch * d.rows + row) * d.columns + first);
    const auto count = static_cast<std::size_t>(std::min(blocks.columns, d.columns - first));
    const Block values(std::span<const Expected>(values_).subspan(at, count), blocks);
    result.exact = result.exact && values.is_exact();
    const double scale = blocks.scale_at(batch, row, first / blocks.columns);
    const auto wrong = [&](const char* what, std::int64_t column, double found) {
      if (result.wrong++ > 0) return;
      result.first = fmt::format(
          "The first: {} at batch {}, row {}, column {} is {}; the block's "
          "scale is {}.",
          what, batch, row, column, found, scale);
    };
    if (!values.has(scale)) wrong("the scale of D", first / blocks.columns, scale);
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
  unsigned d_;
  BlocksOf blocks_of_;
  std::function<std::int64_t(const HostProblem&)> touched_;
  std::function<bool(std::int64_t)> has_;
};

}  // namespace tw
