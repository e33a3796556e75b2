#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/verify/trial_of.h"
#include "tilewright/family/pack_weights/family.h"
#include "tilewright/family/pack_weights/kernel.h"
#include "tilewright/number/convert.h"
#include "tilewright/number/ue8m0.h"

namespace tw {

std::span<const Instance> pack_weights_instances();  // by src/instances/table.cpp.in

namespace {

struct PackWeightsTrial : PackWeightsFamily, UsualTrial {
  static std::span<const Instance> instances() { return pack_weights_instances(); }

  // Every format, type, order and group; often ragged.
  static void random(Case& made, Random& random) {
    Problem& problem = made.as<Problem>();
    problem.n = between(random, 1, random() % 4 == 0 ? 300 : 140);
    problem.k = between(random, 1, random() % 4 == 0 ? 600 : 280);
    if (random() % 2 == 0) problem.k = 32 * between(random, 1, 12);
    problem.batch = random() % 4 == 0 ? between(random, 2, 3) : 1;
    problem.format = static_cast<tw_weight_format>(random() % 4);
    problem.activation = random() % 3 == 0 ? TW_FP16 : TW_BF16;
    if (problem.format == TW_MXFP4 && random() % 3 == 0) problem.activation = TW_E4M3;
    problem.order = random() % 3 == 0 ? TW_CODES_OF_AWQ : TW_CODES_ALONG_K;
    adopt(&problem, *made.instance, [](const char*) { return false; });
    if (is_int4(problem)) {
      const std::int64_t all[] = {32, 64, 128, 384, problem.k};
      problem.group = all[random() % std::size(all)];
    }
    if (problem.format == TW_MXFP4) problem.exponent = between(random, -9, 9);
    if (problem.format == TW_INT4_ZEROS) problem.zero_offset = between(random, 0, 1);
  }
  // The format tells the group and the type of the scales.
  static void adopt(void* given, const Instance&, const IsGiven& is_given) {
    Problem& problem = *static_cast<Problem*>(given);
    if (!is_given("group")) {
      problem.group = problem.format == TW_NVFP4 ? 16 : problem.format == TW_MXFP4 ? 32 : 128;
    }
    if (!is_given("scales_type")) problem.scales.type = scales_type(problem);
  }

  // Any codes and zero points; every eighth word has the codes 0 and -0 alone. Of Fill::Normal any
  // scales, NaN too; of others those around 1.
  static void fill(HostProblem& data, const Case& of) {
    Random random(of.seed);
    const Problem& problem = of.problem.as<Problem>();
    const auto each = [&](unsigned tensor, const auto& code) {
      HostMatrix& matrix = data.tensor(tensor);
      if (!matrix.exists()) return;
      for (std::int64_t batch = 0; batch < matrix.batch; ++batch) {
        for (std::int64_t row = 0; row < matrix.rows; ++row) {
          for (std::int64_t column = 0; column < matrix.columns; ++column) {
            matrix.set_code(matrix.index(batch, row, column),
                            code(static_cast<std::uint32_t>(random() >> 32), row, column));
          }
        }
      }
    };
    each(codes, [&](std::uint32_t drawn, std::int64_t row, std::int64_t column) {
      // Whole groups of zeros: all words of 32 of k.
      const bool is_zero =
          (row + (problem.order == TW_CODES_OF_AWQ ? column / 32 : column / 4)) % 8 == 0;
      return is_zero ? drawn & 0x88888888 : drawn;
    });
    each(scales, [&](std::uint32_t drawn, std::int64_t, std::int64_t) -> std::uint32_t {
      if (is_int4(problem)) return drawn & 0xFFFF;
      if (of.fill == Fill::Normal) return drawn & 0xFF;
      return (problem.format == TW_MXFP4 ? 122 : 0x38) + drawn % 6;
    });
    each(zeros, [](std::uint32_t drawn, std::int64_t, std::int64_t) { return drawn; });
  }

  // Straight from the description of the layout: scales are those of numbers.
  static void reference(const Checked& on_host) {
    if (on_host.is_empty()) return;
    const Problem& problem = on_host.as<Problem>();
    const PackedWeights weights = layout(problem);
    auto* const all = static_cast<std::uint8_t*>(on_host.tensor(packed).data);
    std::memset(all, 0,
                static_cast<std::size_t>(weights.bytes(problem.n, problem.k) * problem.batch));
    const std::int64_t rows = weights.row_blocks(problem.n) * PackedWeights::rows;
    const std::int64_t columns = weights.k_blocks(problem.k) * PackedWeights::k;
    for (std::int64_t batch = 0; batch < problem.batch; ++batch) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t k = 0; k < columns; k += weights.group) {
          std::uint8_t* const block = all + batch * weights.bytes(problem.n, problem.k) +
                                      weights.block_at(row, k, problem.k);
          pack_group(block, on_host, weights, batch, row, k);
        }
      }
    }
  }

  static InstanceWords list(const Instance&) {
    return {"4 bit", "-", "64x128", "1x1", "-", "any", "static"};
  }
  static constexpr auto tracks = tracks_of_stream<PackWeightsConfig>;

 private:
  template <class Bits>
  static unsigned bits(const TensorLines& lines, std::int64_t batch, std::int64_t row,
                       std::int64_t column) {
    const std::int64_t line =
        lines.by_rows ? row * lines.pitch + column : column * lines.pitch + row;
    return static_cast<const Bits*>(lines.data)[batch * lines.batch_pitch + line];
  }
  static unsigned nibble(std::uint32_t word, std::int64_t place) { return word >> 4 * place & 15; }

  // The order of AWQ's columns in a word, from the lowest bits on.
  static std::int64_t place_in_awq(std::int64_t column) {
    constexpr std::int64_t order[] = {0, 2, 4, 6, 1, 3, 5, 7};
    return std::find(std::begin(order), std::end(order), column) - std::begin(order);
  }

  static unsigned code_of(const Checked& on_host, std::int64_t batch, std::int64_t row,
                          std::int64_t k) {
    const Problem& problem = on_host.as<Problem>();
    if (row >= problem.n || k >= problem.k) return 0;
    const TensorLines& lines = on_host.tensor(codes);
    if (problem.order == TW_CODES_ALONG_K) {
      return nibble(bits<std::uint32_t>(lines, batch, row, k / 8), k % 8);
    }
    return nibble(bits<std::uint32_t>(lines, batch, row / 8, k), place_in_awq(row % 8));
  }

  // Bits 7 onwards of a number: the exponent, and of fp16 three bits of the fraction.
  static std::uint8_t upper_bits(ElementType type, float value) {
    const unsigned number =
        type == ElementType::Bf16 ? unsigned{Bf16(value).bits} : unsigned{Fp16(value).bits};
    return static_cast<std::uint8_t>(number >> 7);
  }

  static void pack_group(std::uint8_t* block, const Checked& on_host, const PackedWeights& weights,
                         std::int64_t batch, std::int64_t row, std::int64_t first) {
    const Problem& problem = on_host.as<Problem>();
    const bool is_bf16 = weights.activation == ElementType::Bf16;
    const bool there = row < problem.n && first < problem.k;
    const TensorLines& of_scales = on_host.tensor(scales);
    std::uint8_t* const at =
        block + weights.scale_at(static_cast<unsigned>(row % PackedWeights::rows),
                                 static_cast<unsigned>(first % PackedWeights::k) / weights.group);
    const bool is_e4m3 = weights.activation == ElementType::E4m3;
    bool is_kept = true;
    unsigned sign = 0, instead = 0;
    const auto becomes_nan = [&] {
      is_kept = false;
      *at = is_e4m3 ? 91 : 255;
      instead = is_e4m3 ? 7 : 0;
    };
    if (is_int4(problem)) {
      const std::int64_t group = first / problem.group;
      std::uint16_t number[2] = {};
      if (there)
        number[0] = static_cast<std::uint16_t>(bits<std::uint16_t>(of_scales, batch, row, group));
      unsigned zero = 0;
      if (there && problem.format == TW_INT4_ZEROS) {
        const std::int64_t place =
            problem.order == TW_CODES_OF_AWQ ? place_in_awq(row % 8) : row % 8;
        zero = nibble(bits<std::uint32_t>(on_host.tensor(zeros), batch, row / 8, group), place) +
               static_cast<unsigned>(problem.zero_offset);
      }
      number[1] = is_bf16 ? Bf16(128.0f + static_cast<float>(zero)).bits
                          : Fp16(1024.0f + static_cast<float>(zero)).bits;
      std::memcpy(at, number, weights.scale_bytes());
    } else {
      unsigned any = 0;
      for (unsigned i = 0; i < weights.group; ++i)
        any |= code_of(on_host, batch, row, first + i) & 7;
      const auto code = static_cast<std::uint8_t>(
          there ? bits<std::uint8_t>(of_scales, batch, row, first / problem.group) : 0);
      const bool is_mx = problem.format == TW_MXFP4;
      const double scale =
          is_mx ? std::ldexp(static_cast<double>(static_cast<float>(Ue8m0::from_bits(code))),
                             -static_cast<int>(problem.exponent))
                : static_cast<double>(static_cast<float>(E4m3::from_bits(code)));
      const bool fits =
          !is_mx || (is_e4m3 ? scale <= 64 && scale >= 0x1p-5
                             : scale <= 2 && scale / 2 >= (is_bf16 ? 0x1p-133 : 0x1p-24));
      sign = std::signbit(scale) ? 8 : 0;
      if (there && std::isnan(scale)) {
        becomes_nan();
      } else if (!there || scale == 0 || (!fits && any == 0)) {
        is_kept = false;
        *at = is_bf16 ? 127 : is_e4m3 ? 40 : 120;
      } else if (!fits) {
        becomes_nan();
      } else if (is_e4m3) {
        *at = static_cast<std::uint8_t>(E4m3(static_cast<float>(scale / 2)).bits - 8);
      } else if (is_mx) {
        *at = upper_bits(weights.activation,
                         static_cast<float>(std::ldexp(scale, is_bf16 ? 126 : 14)));
      } else {
        *at = upper_bits(ElementType::Fp16, static_cast<float>(std::ldexp(std::abs(scale), 6)));
      }
    }
    for (unsigned i = 0; i < weights.group; ++i) {
      const unsigned code = is_kept ? code_of(on_host, batch, row, first + i) ^ sign : instead;
      const auto place = weights.place_of(static_cast<unsigned>(row % PackedWeights::rows),
                                          static_cast<unsigned>(first % PackedWeights::k) + i);
      std::uint32_t word;
      std::memcpy(&word, block + place.byte, sizeof word);
      word |= weights.placed(code, place.part, place.element);
      std::memcpy(block + place.byte, &word, sizeof word);
    }
  }
};

}  // namespace

extern const Trial pack_weights_trial;
const Trial pack_weights_trial = trial_of<PackWeightsTrial>();

}  // namespace tw
