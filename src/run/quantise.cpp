#include "src/run/quantise.h"

#include <cmath>
#include <limits>

#include "tilewright/family/quantise/kernel.h"
#include "tilewright/host/quantise_on_host.h"

namespace tw {

namespace {

using Problem = tw_quantise_problem;

// Of one block of a row: what its normally distributed numbers are multiplied with.
class Sizes {
 public:
  Sizes(std::uint64_t seed, ElementType type) : random_(seed), type_(type) {}

  double next() {
    const auto drawn = random_() % 16;
    const int range = type_ == ElementType::Fp16 ? 8 : 100;
    if (drawn == 0) return 0.0;
    if (drawn == 1) return type_ == ElementType::Fp16 ? 0x1p-20 : 0x1p-130;
    if (drawn < 8) return 1.0;
    return std::ldexp(1.0, static_cast<int>(random_() % static_cast<unsigned>(2 * range)) - range);
  }
  // One in some thousands.
  double special(double value) {
    const auto drawn = random_() % 4096;
    if (drawn == 0) return std::numeric_limits<double>::infinity();
    if (drawn == 1) return -std::numeric_limits<double>::infinity();
    return drawn == 2 ? std::numeric_limits<double>::quiet_NaN() : value;
  }

 private:
  Random random_;
  ElementType type_;
};

void adopt(void* problem, const Instance& instance, const std::function<bool(const char*)>& given) {
  if (given("scale_rows")) return;
  static_cast<Problem*>(problem)->scale_rows =
      static_cast<const QuantiseConfig*>(instance.facts)->scale_rows;
}

// Every type and rule; often ragged, sometimes of whole blocks; some in a batch.
void random_problem(Case& made, Random& random) {
  constexpr tw_type sources[] = {TW_BF16, TW_FP16, TW_FP32};
  Problem& problem = made.as<Problem>();
  problem.m = between(random, 1, random() % 3 == 0 ? 300 : 70);
  problem.k = between(random, 1, random() % 3 == 0 ? 700 : 300);
  if (random() % 4 == 0) problem.m = 128 * between(random, 1, 2);
  if (random() % 4 == 0) problem.k = 128 * between(random, 1, 4);
  if (random() % 4 == 0) problem.batch = between(random, 2, 3);
  problem.source.type = sources[random() % 3];
  problem.elements.type = random() % 2 == 0 ? TW_E4M3 : TW_E5M2;
  problem.powers_of_two = random() % 3 == 0;
}

// Fill::Normal: numbers of very different sizes, among them blocks of zeros, of subnormal numbers,
// and with infinities and NaNs; Fill::Integers: from -8 to 8; Fill::Position: each element tells
// its place.
void fill_source(HostProblem& data, const Case& of) {
  const Fill fill = of.fill;
  HostMatrix& source = data.tensor(QuantiseFamily::source);
  Random random(of.seed);
  std::normal_distribution<double> normal;
  Sizes sizes(of.seed + 1, source.type);
  double size = 1.0;
  source.fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) -> double {
    if (fill == Fill::Integers) return static_cast<double>(random() % 17) - 8;
    if (fill == Fill::Position) {
      return static_cast<double>((batch * 101 + row * 31 + column * 7) % 251 - 125);
    }
    if (column % QuantiseFamily::block == 0) size = sizes.next();
    return sizes.special(normal(random) * size);
  });
}

InstanceWords list(const Instance& instance) {
  const auto& config = *static_cast<const QuantiseConfig*>(instance.facts);
  return {"16/32 bit -> fp8",
          "-",
          std::to_string(config.tile_rows()) + "x128",
          "1x1",
          "-",
          std::to_string(config.scale_rows) + "x128",
          "static"};
}

}  // namespace

const Trial quantise_trial = {.description = &QuantiseFamily::description,
                              .instances = quantise_instances,
                              .adopt = adopt,
                              .settle = nullptr,
                              .random = random_problem,
                              .fill = fill_source,
                              .answer = exactly<quantise_on_host>,
                              .list = list};

}  // namespace tw
