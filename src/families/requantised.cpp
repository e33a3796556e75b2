#include "src/families/requantised.h"

#include <numeric>

#include "src/verify/groups.h"
#include "src/verify/quantised_answer.h"
#include "src/verify/scaled_trial.h"
#include "tilewright/family/requantised/launch.h"

namespace tw {

namespace {

using Family = RequantisedFamily;
using Problem = Family::Problem;
using Scaled = ScaledTrial<Family>;

const RequantisedFacts& facts_of_instance(const Instance& instance) {
  return *static_cast<const RequantisedFacts*>(instance.facts);
}
std::int32_t somewhere = 0;

void adopt(void* given, const Instance& instance, const IsGiven& is_given) {
  Problem& problem = *static_cast<Problem*>(given);
  Scaled::adopt(given, instance, is_given);
  const RequantisedFacts& facts = facts_of_instance(instance);
  problem.rows = facts.in_groups ? &somewhere : nullptr;
  if (!is_given("gated_blocks")) problem.gated_blocks = facts.gates_blocks ? 1 : 0;
  if (problem.gated_blocks != 0 && !is_given("n")) problem.matmul.n = 512;
}

// Groups have the rows of their sizes, of which m may count more.
Status settle(void* given, const Lists& lists, const Instance& instance) {
  Problem& problem = *static_cast<Problem*>(given);
  const std::vector<std::int64_t>& sizes = lists[Family::sizes];
  if (!sizes.empty()) {
    if (!facts_of_instance(instance).in_groups) {
      return Status::refused("--sizes are those of groups; this kernel takes none.");
    }
    problem.matmul.batch = static_cast<std::int64_t>(sizes.size());
    problem.matmul.m =
        std::max(problem.matmul.m, std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  }
  return Scaled::settle(given, lists, instance);
}

// Where no sizes are told, all groups have as many rows.
Groups groups_of(const Case& of) {
  const tw_matmul_problem& matmul = of.problem.as<Problem>().matmul;
  const std::vector<std::int64_t>& sizes = of.lists[Family::sizes];
  if (!sizes.empty() || matmul.batch == 0) return Groups(sizes);
  return Groups(
      std::vector<std::int64_t>(static_cast<std::size_t>(matmul.batch), matmul.m / matmul.batch));
}

void random_problem(Case& made, Random& random) {
  Scaled::random(made, random);
  const RequantisedFacts& facts = facts_of_instance(*made.instance);
  tw_matmul_problem& matmul = made.as<Problem>().matmul;
  if (facts.gates_blocks) matmul.n = 256 * between(random, 1, 2);
  if (facts.in_groups) {
    const std::int64_t tile = facts.product.config.tiling.m;
    std::vector<std::int64_t>& sizes = made.lists[Family::sizes] = random_sizes(tile, random);
    const bool has_spare = random() % 2 == 0;  // rows of nobody behind the last group
    matmul.m =
        has_spare ? std::accumulate(sizes.begin(), sizes.end(), between(random, 1, 2 * tile)) : 1;
  }
}

void fill(HostProblem& data, const Case& of) {
  const Problem& problem = of.problem.as<Problem>();
  MatmulShape shape = product_shape(of);
  MatmulData product = make_matmul_data(shape, of.fill, of.seed);
  if (Family::in_groups(problem)) {
    MatmulShape all_groups = shape;
    all_groups.m = 1;
    all_groups.batch = problem.matmul.batch;
    product.b = make_matmul_data(all_groups, of.fill, of.seed).b;
  }
  product.d = data.tensor(Family::d);  // a gate of blocks is none of the product's
  take_product(data, std::move(product));
  fill_scales<Family>(data, of);
  if (!Family::in_groups(problem)) return;
  const Groups groups = groups_of(of);
  std::mt19937_64 random(of.seed + 1);
  groups.fill(data.tensor(Family::rows), problem.matmul.m, of.seed % 2 == 0, random);
  std::vector<bool> used(static_cast<std::size_t>(problem.matmul.m));
  for (std::int64_t row = 0; row < problem.matmul.m; ++row) used[row] = groups.of_row(row) >= 0;
  make_others_infinite(data.tensor(Family::a), used);
  make_others_infinite(data.tensor(Family::a_scales), used);
}

// Columns of gate and up in turns by one, of such in turns by 128.
std::vector<double> in_turns(const std::vector<double>& sums, std::int64_t n) {
  std::vector<double> result(sums.size());
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(sums.size()); ++at) {
    const std::int64_t column = at % n, output = column / 256 * 128 + column % 128;
    result[static_cast<std::size_t>(at - column + 2 * output + column / 128 % 2)] =
        sums[static_cast<std::size_t>(at)];
  }
  return result;
}

QuantisedBlocks blocks_of(const HostProblem& ran, Comparison& result) {
  const HostMatrix& scales = ran.tensor(Family::d_scales);
  if (scales.exists()) result.padding_touched += scales.padding_touched();
  const BlockScale rule =
      ran.problem().as<Problem>().powers_of_two != 0 ? BlockScale::power_of_two : BlockScale::real;
  // The scale's reciprocal and the product with it are rounded to float32.
  return {
      .columns = 128,
      .smallest = 0x1p-126,
      .rounding = 0x1p-21,
      .scale_of = [rule](double amax) { return block_scale<E4m3>(static_cast<float>(amax), rule); },
      .scale_at = [&scales](auto batch, auto row,
                            auto block) { return scales.at(batch, row, block); }};
}

// Rows of no group keep their poison, elements and scales.
std::int64_t rows_of_nobody_touched(const HostProblem& ran, const Groups& groups) {
  std::int64_t touched = 0;
  for (const unsigned tensor : {Family::d, Family::d_scales}) {
    const HostMatrix& matrix = ran.tensor(tensor);
    for (std::int64_t row = 0; row < matrix.rows && matrix.exists(); ++row) {
      if (groups.of_row(row) >= 0) continue;
      for (std::int64_t column = 0; column < matrix.columns; ++column) {
        const std::size_t at = matrix.index(0, row, column);
        touched += read_bits(matrix.type, matrix.element(at)) != poison_bits(matrix.type, at);
      }
    }
  }
  return touched;
}

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  const Problem& problem = of.problem.as<Problem>();
  if (!Family::in_groups(problem) && !Family::gates_blocks(problem)) {
    return std::make_shared<QuantisedAnswer>(Scaled::reference(of, given), of.fill, Family::d,
                                             blocks_of);
  }
  MatmulShape shape = summed_by_blocks(product_shape(of), of.fill);
  const bool in_groups = Family::in_groups(problem);
  const Groups groups = in_groups ? groups_of(of) : Groups({});
  std::vector<std::int64_t> rows;
  std::vector<ProductLine> lines;
  for (std::int64_t line = 0; line < shape.batch * shape.m; ++line) {
    const std::int64_t batch = line / shape.m, row = line % shape.m;
    const std::int64_t group = in_groups ? groups.of_row(row) : batch;
    if (group < 0) continue;
    rows.push_back(line);
    lines.push_back({batch, row, group});
  }
  MatmulSums sums = sums_of_lines(lines, given.tensor(Family::a), given.tensor(Family::b),
                                  given.tensor(Family::a_scales), given.tensor(Family::b_scales));
  if (Family::gates_blocks(problem)) {
    sums = {in_turns(sums.value, shape.n), in_turns(sums.magnitude, shape.n)};
    shape.epilogue.gated = true;
  }
  MatmulData data = product_data(given, of.fill);
  const std::int64_t m = shape.batch * shape.m;
  shape.batch = 1;
  shape.m = static_cast<std::int64_t>(rows.size());
  MatmulReference reference = reference_of(sums, data, shape);
  reference.d = Groups::scattered(reference.d, rows, m, shape.output_columns());
  return std::make_shared<QuantisedAnswer>(
      std::move(reference), of.fill, Family::d, blocks_of,
      [groups, in_groups](const auto& ran) {
        return in_groups ? rows_of_nobody_touched(ran, groups) : 0;
      },
      [groups, in_groups](std::int64_t row) { return !in_groups || groups.of_row(row) >= 0; });
}

}  // namespace

const Trial requantised_trial = {.description = &Family::description,
                                 .instances = requantised_instances,
                                 .adopt = adopt,
                                 .settle = settle,
                                 .random = random_problem,
                                 .fill = fill,
                                 .answer = answer,
                                 .list = nullptr};

}  // namespace tw
