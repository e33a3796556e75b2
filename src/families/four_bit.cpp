#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "src/verify/groups.h"
#include "src/verify/product.h"
#include "src/verify/trial_of.h"
#include "tilewright/family/four_bit/launch.h"

namespace tw {

std::span<const Instance> four_bit_instances();  // by src/instances/table.cpp.in

namespace {

const FourBitFacts& facts_of_instance(const Instance& instance) {
  return *static_cast<const FourBitFacts*>(instance.facts);
}

// The bytes of one matrix of the batch.
struct Packed {
  Packed(const HostMatrix& bytes, const FourBitFamily::Problem& problem)
      : data(static_cast<const unsigned char*>(bytes.data())),
        layout(FourBitFamily::packed(problem)),
        k(problem.k),
        matrix_bytes(layout.bytes(problem.n, problem.k)),
        exponent(FourBitFamily::exponent(problem)) {}

  // The weight at a row of n and k, from the definition of the packed format.
  double weight(std::int64_t matrix, std::int64_t row, std::int64_t at_k) const {
    const unsigned char* const block = data + matrix * matrix_bytes + layout.block_at(row, at_k, k);
    const auto in_row = static_cast<unsigned>(row % PackedWeights::rows);
    const auto in_k = static_cast<unsigned>(at_k % PackedWeights::k);
    const PackedWeights::Place place = layout.place_of(in_row, in_k);
    std::uint32_t word;
    std::memcpy(&word, block + place.byte, sizeof word);
    const unsigned code = layout.code_in(word, place.part, place.element);
    const unsigned char* const scale = block + layout.scale_at(in_row, in_k / layout.group);
    if (!layout.is_e2m1()) {
      const double factor = read_element(layout.activation, scale);
      const double bias = layout.activation == ElementType::Bf16 ? 128 : 1024;
      const double zero = layout.format == WeightFormat::Int4
                              ? 8
                              : read_element(layout.activation, scale + 2) - bias;
      return rounded_to(layout.activation, (code - zero) * factor);
    }
    if (*scale == (layout.is_for_bytes() ? 91 : 255)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const double value = static_cast<float>(E2m1::from_bits(static_cast<std::uint8_t>(code)));
    if (layout.format == WeightFormat::Nvfp4) {
      return std::ldexp(value * (8 + *scale % 8), *scale / 8 - 24);
    }
    return std::ldexp(value,
                      exponent + (layout.activation == ElementType::Bf16   ? *scale - 253
                                  : layout.activation == ElementType::Fp16 ? *scale / 8 - 29
                                                                           : *scale / 8 - 5));
  }

  const unsigned char* data;
  PackedWeights layout;
  std::int64_t k, matrix_bytes;
  int exponent;
};

struct FourBitTrial : FourBitFamily, UsualTrial {
  static std::span<const Instance> instances() { return four_bit_instances(); }

  static void adopt(void* given, const Instance& instance, const IsGiven& is_given) {
    Problem& problem = *static_cast<Problem*>(given);
    const FourBitFacts& facts = facts_of_instance(instance);
    if (!is_given("format")) problem.format = static_cast<tw_weight_format>(facts.weights.format);
    if (!is_given("scale_group")) problem.scale_group = facts.weights.group;
    const auto type = static_cast<tw_type>(facts.weights.activation);
    if (!is_given("a_type")) problem.a.type = type;
    if (!is_given("d_type")) problem.d.type = type == TW_E4M3 ? TW_BF16 : type;
    problem.rows = facts.in_groups ? static_cast<std::int32_t*>(some_address()) : nullptr;
    problem.a_scales.data = facts.is_scaled ? some_address() : nullptr;
    problem.a_scales.type = TW_FP32;
    // Rows are gathered where A's are counted, which kernels that take them as they lie refuse.
    const bool gathers = is_given("a_rows") && problem.a_rows > 0;
    problem.row_index = gathers ? static_cast<std::int32_t*>(some_address()) : nullptr;
    if (!is_given("a_rows")) problem.a_rows = 0;
  }

  // Groups have the rows of their sizes, of which m may count more.
  static Status settle(void* given, const Lists& lists, const Instance& instance) {
    Problem& problem = *static_cast<Problem*>(given);
    const std::vector<std::int64_t>& all = lists[sizes];
    if (!facts_of_instance(instance).in_groups) {
      return all.empty() ? Status::good()
                         : Status::refused("--sizes are those of groups; this kernel takes none.");
    }
    if (all.empty()) return Status::good();
    problem.batch = static_cast<std::int64_t>(all.size());
    for (const std::int64_t size : all) {
      if (problem.capacity > 0 && size > problem.capacity) {
        return Status::refused(
            sentence("A size is {}, but --capacity is {} rows.", size, problem.capacity));
      }
    }
    problem.m = problem.capacity > 0
                    ? problem.capacity * problem.batch
                    : std::max(problem.m, std::accumulate(all.begin(), all.end(), std::int64_t{0}));
    return Status::good();
  }

  // Ragged, of several k-tiles and tiles of features; rows of A begin at multiples of 16 bytes.
  static void random(Case& made, Random& random) {
    Problem& problem = made.as<Problem>();
    const Tiling& tiling = facts_of_instance(*made.instance).product.config.tiling;
    problem.m = between(random, 1, random() % 3 == 0 ? 2 * tiling.n + 9 : tiling.n);
    problem.n = between(random, 1, random() % 3 == 0 ? 400 : 150);
    problem.k = between(random, 1, random() % 3 == 0 ? 1200 : 300);
    if (random() % 4 == 0) problem.batch = between(random, 2, 3);
    if (problem.format == TW_MXFP4) problem.exponent = between(random, 0, 3);
    problem.weights_are_constant = random() % 2 == 0;
    if (facts_of_instance(*made.instance).in_groups) random_groups(made, random);
  }

  // Packed weights of any code. Scales of integers make integers.
  static void fill(HostProblem& data, const Case& of) {
    HostMatrix bytes = data.tensor(weights);
    const Problem& problem = of.problem.as<Problem>();
    const PackedWeights layout = packed(problem);
    Random random(of.seed + 1);
    auto* const packed_bytes = static_cast<unsigned char*>(bytes.data());
    const std::int64_t count = bytes.exists() ? bytes.rows * bytes.columns : 0;
    for (std::int64_t at = 0; at < count; ++at) {
      const auto in_block = static_cast<unsigned>(at % layout.block_bytes());
      packed_bytes[at] = static_cast<unsigned char>(
          in_block < PackedWeights::code_bytes
              ? random() >> 32
              : scale_byte(layout, in_block, exponent(problem), of.fill, random));
    }
    MatmulShape shape = product_shape(of), given_rows = shape;
    shape.b_type = given_rows.b_type = shape.a_type;
    given_rows.m = rows_of_a(problem);
    MatmulData made = make_matmul_data(shape, of.fill, of.seed);
    if (is_gathered(problem)) made.a = make_matmul_data(given_rows, of.fill, of.seed).a;
    made.b = transposed(std::move(bytes));
    take_product(data, std::move(made));
    if (is_scaled(problem)) {
      data.tensor(a_scales).fill([&](auto, auto, auto) {
        const auto drawn = static_cast<int>(random() >> 40);
        return of.fill == Fill::Normal ? 0.5 + drawn % 1024 / 1024.0 : std::ldexp(1, drawn % 2);
      });
    }
    if (!in_groups(problem)) return;
    const Groups groups = groups_of(of);
    groups.fill(data.tensor(rows), problem.m, of.seed % 2 == 0, random);
    fill_index(data.tensor(row_index), problem.a_rows, random);
    std::vector<bool> used(static_cast<std::size_t>(rows_of_a(problem)));
    for (std::int64_t row = 0; row < problem.m; ++row) {
      const std::int64_t source = source_of(data, row);
      if (source >= 0 && groups.of_row(row) >= 0) used[static_cast<std::size_t>(source)] = true;
    }
    make_others_infinite(data.tensor(a), used);
  }

  static std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
    const Problem& problem = of.problem.as<Problem>();
    MatmulShape shape = product_shape(of);
    shape.b_type = shape.a_type;
    shape.b_major = Major::K;
    MatmulData data = product_data(given, of.fill);
    const Packed source(given.tensor(weights), problem);
    data.b = HostMatrix(ElementType::Fp32, Major::K, problem.batch, problem.n, problem.k, false);
    data.b.allocate();
    data.b.fill([&](std::int64_t matrix, std::int64_t row, std::int64_t at_k) {
      return source.weight(matrix, row, at_k);
    });
    if (in_groups(problem)) return answer_of_groups(of, given, std::move(data), shape);
    if (is_scaled(problem)) {
      HostMatrix scaled(ElementType::Fp32, Major::K, problem.batch, problem.m, problem.k, false);
      scaled.allocate();
      scaled.fill([&](std::int64_t matrix, std::int64_t row, std::int64_t at_k) {
        return data.a.at(matrix, row, at_k) * given.tensor(a_scales).at(matrix, row, at_k / 128);
      });
      data.a = std::move(scaled);
    }
    return std::make_shared<ProductAnswer>(reference_on_host(data, shape), of.fill, nullptr);
  }

 private:
  // Some rows lie outside of A.
  static void fill_index(HostMatrix& index, std::int64_t a_rows, Random& random) {
    index.fill([&](auto, auto, auto) -> double {
      const double outside[] = {-1.0, static_cast<double>(a_rows),
                                std::numeric_limits<std::int32_t>::min(),
                                std::numeric_limits<std::int32_t>::max()};
      if (random() % 8 == 0) return outside[random() % 4];
      return static_cast<double>(random() % static_cast<std::uint64_t>(a_rows));
    });
  }
  // The row of A that makes a row of D, or -1 where A has none.
  static std::int64_t source_of(const HostProblem& data, std::int64_t row) {
    const HostMatrix& index = data.tensor(row_index);
    if (!index.exists()) return row;
    const auto source = static_cast<std::int64_t>(index.at(0, 0, row));
    return source >= 0 && source < data.tensor(a).rows ? source : -1;
  }
  // Where no sizes are told, all groups have as many rows.
  static Groups groups_of(const Case& of) {
    const Problem& problem = of.problem.as<Problem>();
    if (!of.lists[sizes].empty() || problem.batch == 0) {
      return Groups(of.lists[sizes], problem.capacity);
    }
    return Groups(std::vector<std::int64_t>(static_cast<std::size_t>(problem.batch),
                                            problem.m / problem.batch),
                  problem.capacity);
  }
  // Some are empty, some have one row; one may have rows of several tiles. Rows of nobody may lie
  // behind the last.
  static void random_groups(Case& made, Random& random) {
    const std::int64_t tile = facts_of_instance(*made.instance).product.config.tiling.n;
    std::vector<std::int64_t>& all = made.lists[sizes];
    const bool many = random() % 3 == 0;  // most of them have nothing
    all.resize(static_cast<std::size_t>(many ? between(random, 9, 40) : between(random, 1, 5)));
    for (std::int64_t& size : all) {
      const std::int64_t kinds[] = {0, 1, between(random, 2, tile), tile + between(random, -1, 1)};
      size = kinds[random() % (many && random() % 4 != 0 ? 1 : 4)];
    }
    if (random() % 3 == 0) all[random() % all.size()] = between(random, tile + 1, 3 * tile);
    Problem& problem = made.as<Problem>();
    problem.m = random() % 2 == 0
                    ? 1
                    : std::accumulate(all.begin(), all.end(), between(random, 1, 2 * tile));
    if (random() % 3 == 0) {
      problem.capacity = std::max<std::int64_t>(*std::max_element(all.begin(), all.end()), 1) +
                         (random() % 2 == 0 ? 0 : between(random, 1, 20));
    }
    const bool gathers = facts_of_instance(*made.instance).gathers && random() % 4 != 0;
    if (!gathers) return;
    problem.row_index = static_cast<std::int32_t*>(some_address());
    problem.a_rows = between(random, 1, random() % 4 == 0 ? 3 : 2 * tile);
  }
  static std::shared_ptr<const Answer> answer_of_groups(const Case& of, const HostProblem& given,
                                                        MatmulData data, MatmulShape shape) {
    const Groups groups = groups_of(of);
    const std::int64_t m = shape.m;
    const auto [rows, lines] =
        groups.owned(m, [&](std::int64_t row) { return source_of(given, row); });
    const MatmulSums sums = sums_of_lines(lines, data.a, transposed(data.b), {}, {});
    shape.m = static_cast<std::int64_t>(rows.size());
    return groups.answer(sums, rows, std::move(data), shape, m, of.fill);
  }
  // A byte of the scales, `at` bytes into a block.
  static unsigned scale_byte(const PackedWeights& layout, unsigned at, int exponent, Fill fill,
                             Random& random) {
    const auto drawn = static_cast<unsigned>(random() >> 32);
    const bool whole = fill != Fill::Normal;
    switch (layout.format) {
      case WeightFormat::Mxfp4: {
        // Exponents below 0 draw one scale alone; 6 - range of bytes is not below 0.
        const auto range = static_cast<unsigned>(std::clamp(exponent, 0, 6));
        if (layout.activation == ElementType::Bf16)
          return 254 - (whole ? drawn % (range + 1) : drawn % 16);
        if (layout.is_for_bytes()) return 8 * (whole ? 6 - drawn % (range + 1) : drawn % 12);
        return 240 - 8 * (whole ? drawn % (range + 1) : drawn % 16);
      }
      case WeightFormat::Nvfp4:
        return whole ? (21 + 1 + drawn % 3) * 8 : drawn % 8 + 8 * (13 + drawn / 8 % 16);
      default: break;
    }
    // Little endian: of a scale of two bytes, then of bias + zero point.
    const bool is_bf16 = layout.activation == ElementType::Bf16;
    const bool is_upper = at % 2 == 1;
    if (layout.format == WeightFormat::Int4Zeros && at % 4 >= 2) {
      return is_upper ? (is_bf16 ? 0x43 : 0x64) : drawn % 16;
    }
    if (whole) return is_upper ? (is_bf16 ? 0x3F : 0x3C) : is_bf16 ? 0x80 : 0x00;
    return is_upper ? (is_bf16 ? 0x3C : 0x20) : drawn % 256;
  }
};

}  // namespace

extern const Trial four_bit_trial;
const Trial four_bit_trial = trial_of<FourBitTrial>();

}  // namespace tw
