#include "src/verify/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tw {

namespace {

class Judge {
 public:
  explicit Judge(Comparison& result) : result_(result) {}

  void matrix(const char* name, const HostMatrix& matrix, const std::vector<Expected>& expected) {
    std::size_t i = 0;
    for (std::int64_t batch = 0; batch < matrix.batch; ++batch) {
      for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t column = 0; column < matrix.columns; ++column, ++i) {
          const std::size_t index = matrix.index(batch, row, column);
          const std::uint32_t bits = read_bits(matrix.type, matrix.element(index));
          const bool unwritten = bits == poison_bits(matrix.type, index);
          const bool is_poison = unwritten && std::isnan(expected[i].value);  // a NaN as well
          if (!is_poison && good(matrix.type, matrix.element(index), expected[i])) continue;
          result_.unwritten += unwritten;
          if (result_.wrong++ > 0) continue;
          char text[240];
          const int length =
              std::snprintf(text, sizeof text,
                            "The first wrong element of %s is (%lld, %lld, %lld) of %s: ", name,
                            static_cast<long long>(batch), static_cast<long long>(row),
                            static_cast<long long>(column), "(batch, row, column)");
          describe(text + length, sizeof text - static_cast<std::size_t>(length), matrix.type,
                   matrix.element(index), expected[i], unwritten);
          result_.first = text;
        }
      }
    }
    result_.padding_touched += matrix.padding_touched();
  }

  void amax(const HostMatrix& amax, const Expected& expected) {
    const void* element = amax.data();
    if (!good(ElementType::Fp32, element, expected) && result_.wrong++ == 0) {
      char text[160];
      const int length = std::snprintf(text, sizeof text, "amax is wrong: ");
      describe(text + length, sizeof text - static_cast<std::size_t>(length), ElementType::Fp32,
               element, expected, false);
      result_.first = text;
    }
    result_.padding_touched += amax.padding_touched();
  }

 private:
  static void describe(char* text, std::size_t room, ElementType type, const void* element,
                       const Expected& expected, bool unwritten) {
    std::snprintf(text, room, "expected %.9g (+- %.3g, as %s %.9g), found %.9g (bits 0x%x)%s.",
                  expected.value, expected.error, name_of(type), rounded_to(type, expected.value),
                  read_element(type, element), read_bits(type, element),
                  unwritten ? ", which nobody wrote" : "");
  }

  bool good(ElementType type, const void* element, const Expected& expected) {
    const double found = read_element(type, element);
    if (std::isnan(expected.value)) return std::isnan(found);
    if (expected.error == 0.0 || std::isinf(expected.value)) {
      return found == rounded_to(type, expected.value);
    }
    result_.exact = false;
    if (!within(type, found, expected, 1.0)) return false;
    if (found == rounded_to(type, expected.value)) return true;
    double enough = 1.0;
    for (double step = 0.5; step > 0.005; step /= 2) {
      if (within(type, found, expected, enough - step)) enough -= step;
    }
    result_.worst = std::max(result_.worst, enough);
    return true;
  }

  // Whether a share of the error is enough.
  static bool within(ElementType type, double found, const Expected& expected, double share) {
    // Between float32 and the bounds lies one more rounding.
    const double error = share * expected.error * (1.0 + 1e-6);
    const double slack = std::ldexp(std::abs(expected.value), -50);
    return rounded_to(type, expected.value - error - slack) <= found &&
           found <= rounded_to(type, expected.value + error + slack);
  }

  Comparison& result_;
};

}  // namespace

std::string Comparison::complaint() const {
  std::string text;
  if (wrong > 0) {
    text = "wrong result: " + std::to_string(wrong) + " elements";
    if (unwritten > 0) text += ", of which nobody wrote " + std::to_string(unwritten);
    text += ". " + first + "\n";
  }
  if (padding_touched > 0) {
    text +=
        "wrong result: " + std::to_string(padding_touched) + " elements of padding were written.\n";
  }
  return text;
}

Comparison compare(const MatmulData& data, const MatmulReference& reference) {
  Comparison result;
  result.exact = true;
  Judge judge(result);
  judge.matrix("D", data.d, reference.d);
  if (data.auxiliary.exists()) {
    judge.matrix("the auxiliary output", data.auxiliary, reference.auxiliary);
  }
  if (data.amax.exists()) judge.amax(data.amax, reference.amax);
  return result;
}

void compare_within(Comparison& result, const char* name, const HostMatrix& matrix,
                    const std::vector<Expected>& expected) {
  if (matrix.exists()) Judge(result).matrix(name, matrix, expected);
}

}  // namespace tw
