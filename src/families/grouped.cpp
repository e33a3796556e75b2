#include "src/families/grouped.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "src/verify/block_scales.h"
#include "src/verify/groups.h"
#include "src/verify/product.h"
#include "src/verify/scales.h"
#include "tilewright/family/grouped/launch.h"

namespace tw {

namespace {

using Family = GroupedFamily;
using Problem = Family::Problem;

const GroupedFacts& facts_of_grouped(const Instance& instance) {
  return *static_cast<const GroupedFacts*>(instance.facts);
}
std::int32_t somewhere = 0;

// Kernels that convert take any elements with any scales; others, blocks of scales that groups
// begin with.
void adopt_block_scales(Problem& problem, const GroupedFacts& facts, const IsGiven& is_given) {
  problem.a_block_scales = problem.b_block_scales = &somewhere;
  const Tiling& tiling = facts.product.config.tiling;
  const BlockScaleFacts& scales = facts.block_scales;
  if (!scales.converts && !is_given("scale")) {
    problem.scale = static_cast<tw_scale_type>(scales.type);
  }
  const ElementType usual = Family::BlockScales::type(problem) == ScaleType::Ue4m3
                                ? ElementType::E2m1
                                : ElementType::E4m3;
  const auto type = [&](const char* name, tw_matrix& matrix, ElementType own) {
    if (!is_given(name)) matrix.type = static_cast<tw_type>(scales.converts ? usual : own);
  };
  type("a_type", problem.matmul.a, tiling.a_type);
  type("b_type", problem.matmul.b, tiling.b_type);
  if (!scales.converts && !is_given("capacity")) problem.capacity = 3 * ScaleBlock::rows;
}

void random_block_scales(Problem& problem, const GroupedFacts& facts, Random& random) {
  if (facts.block_scales.converts) {
    random_block_types(problem, random);
    return;
  }
  constexpr std::int64_t step = 32;  // a line along k holds whole 16 bytes of packed elements
  problem.matmul.k = (problem.matmul.k + step - 1) / step * step;
}

// Kernels that gather rows do so of A's rows, those that may only where A's rows are counted; those
// of FP8 have scales.
void adopt(void* given, const Instance& instance, const IsGiven& is_given) {
  Problem& problem = *static_cast<Problem*>(given);
  adopt_types(given, Family::description, instance, is_given);
  const GroupedFacts& facts = facts_of_grouped(instance);
  const bool counts_rows = is_given("a_rows") && problem.a_rows > 0;
  if (facts.needs_index || (facts.gathers && counts_rows)) {
    problem.row_index = &somewhere;
  } else if (!is_given("a_rows")) {
    problem.a_rows = 0;  // A has its rows as they are needed
  }
  if (product_facts(instance).b_scale_rows > 0) {
    problem.a_scales.data = problem.b_scales.data = &somewhere;
  }
  if (facts.block_scales.present) adopt_block_scales(problem, facts, is_given);
}

Status settle(void* given, const Lists& lists, const Instance& instance) {
  Problem& problem = *static_cast<Problem*>(given);
  const std::vector<std::int64_t>& sizes = lists[Family::sizes];
  if (lists[Family::spare].size() != 1) return Status::refused("--spare is one number.");
  const std::int64_t spare = lists[Family::spare].front(), capacity = problem.capacity;
  for (const std::int64_t size : sizes) {
    if (capacity > 0 && size > capacity) {
      return Status::refused(sentence("A size is {}, but --capacity is {} rows.", size, capacity));
    }
  }
  if (capacity > 0 && spare > 0) {
    return Status::refused("Groups with a --capacity have no --spare rows behind.");
  }
  tw_matmul_problem& matmul = problem.matmul;
  matmul.batch = static_cast<std::int64_t>(sizes.size());
  matmul.m =
      capacity > 0 ? capacity * matmul.batch : std::accumulate(sizes.begin(), sizes.end(), spare);
  settle_scales<Family>(problem, product_facts(instance).b_scale_rows);
  return Status::good();
}

// Up to six groups, or thirty. Some are empty, some have one row, one may have many times the
// others'; ragged columns and k; one behind the other with rows of nobody behind, or with a
// capacity.
void random_problem(Case& made, Random& random) {
  Problem& problem = made.as<Problem>();
  const auto tile = static_cast<std::int64_t>(config_of(*made.instance).output_rows());
  std::vector<std::int64_t>& sizes = made.lists[Family::sizes];
  const bool many = random() % 5 == 0;  // most of them have nothing
  sizes.resize(static_cast<std::size_t>(many ? between(random, 9, 30) : between(random, 1, 6)));
  for (std::int64_t& size : sizes) {
    const std::int64_t sizes_of_kinds[] = {0, 1, between(random, 2, tile - 1),
                                           tile + between(random, -1, 1), between(random, 1, 30)};
    size = sizes_of_kinds[random() % (many && random() % 6 != 0 ? 2 : 5)];
  }
  const GroupedFacts& facts = facts_of_grouped(*made.instance);
  const bool by_blocks = facts.block_scales.present && !facts.block_scales.converts;
  const bool masked = random() % 3 == 0 || by_blocks;
  if (!masked && random() % 3 == 0) {
    sizes[random() % sizes.size()] = between(random, 2 * tile, 4 * tile);
  }
  if (masked) {
    problem.capacity = std::max<std::int64_t>(*std::max_element(sizes.begin(), sizes.end()), 1) +
                       (random() % 2 == 0 ? 0 : between(random, 1, 20));
    constexpr std::int64_t rows = ScaleBlock::rows;
    if (by_blocks) problem.capacity = (problem.capacity + rows - 1) / rows * rows;
  } else {
    made.lists[Family::spare].front() = random() % 2 == 0 ? 0 : between(random, 1, 150);
  }
  if (facts.gathers && !facts.needs_index && random() % 2 == 0) problem.row_index = &somewhere;
  const std::int64_t a_rows = between(random, 1, random() % 4 == 0 ? 3 : 2 * tile);
  if (problem.row_index != nullptr) problem.a_rows = a_rows;
  problem.matmul.n = between(random, 1, random() % 3 == 0 ? 300 : 140);
  if (random() % 2 == 0) problem.matmul.n = (problem.matmul.n + 7) / 8 * 8;
  problem.matmul.k = between(random, 1, product_facts(*made.instance).b_scale_rows > 0 ? 700 : 200);
  if (facts.block_scales.present) random_block_scales(problem, facts, random);
}

// The row of A that makes a row of D, or -1 where A has none.
std::int64_t source_of(const HostProblem& data, std::int64_t row) {
  const HostMatrix& index = data.tensor(Family::row_index);
  if (!index.exists()) return row;
  const auto source = static_cast<std::int64_t>(index.at(0, 0, row));
  return source >= 0 && source < data.tensor(Family::a).rows ? source : -1;
}

// What lies in rows of no group must not matter: there A is infinite. Every second seed tells of
// some groups that they have fewer rows than none, or more than there are. Of gathered rows, some
// lie outside of A.
void fill(HostProblem& data, const Case& of) {
  const Problem& problem = of.problem.as<Problem>();
  const Groups groups(of.lists[Family::sizes], of.problem.as<Problem>().capacity);
  MatmulShape all_rows = product_shape(of), all_groups = all_rows, given_rows = all_rows;
  all_groups.m = 1;
  all_groups.batch = problem.matmul.batch;
  given_rows.m = Family::rows_of_a(problem);
  MatmulData product = make_matmul_data(all_rows, of.fill, of.seed);
  product.b = make_matmul_data(all_groups, of.fill, of.seed).b;
  product.a = make_matmul_data(given_rows, of.fill, of.seed).a;
  take_product(data, std::move(product));

  std::mt19937_64 random(of.seed + 1);
  data.tensor(Family::row_index).fill([&](auto, auto, auto) -> double {
    const double outside[] = {-1.0, static_cast<double>(problem.a_rows),
                              std::numeric_limits<std::int32_t>::min(),
                              std::numeric_limits<std::int32_t>::max()};
    if (random() % 8 == 0) return outside[random() % 4];
    return static_cast<double>(random() % static_cast<std::uint64_t>(problem.a_rows));
  });
  std::vector<bool> used(static_cast<std::size_t>(given_rows.m));
  for (std::int64_t row = 0; row < all_rows.m; ++row) {
    const std::int64_t source = source_of(data, row);
    if (source >= 0 && groups.of_row(row) >= 0) used[source] = true;
  }
  make_others_infinite(data.tensor(Family::a), used);
  fill_scales<Family>(data, of);
  make_others_infinite(data.tensor(Family::a_scales), used);
  const ScaleType scale_type = Family::BlockScales::type(problem);
  fill_blocks(data.tensor(Family::a_block_scales), scale_type, of.fill, random);
  fill_blocks(data.tensor(Family::b_block_scales), scale_type, of.fill, random);
  groups.fill(data.tensor(Family::rows), all_rows.m, of.seed % 2 == 0, random);
}

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  const Groups groups(of.lists[Family::sizes], of.problem.as<Problem>().capacity);
  MatmulShape shape = product_shape(of);
  const std::int64_t m = shape.m;
  const auto [rows, lines] =
      groups.owned(m, [&](std::int64_t row) { return source_of(given, row); });
  const HostMatrix& a_scales = given.tensor(Family::a_scales);  // there may be none
  const HostMatrix& b_scales = given.tensor(Family::b_scales);
  if (b_scales.exists()) shape = summed_by_blocks(shape, of.fill);
  HostMatrix a = given.tensor(Family::a), b = given.tensor(Family::b);
  const auto& problem = of.problem.as<Problem>();
  if (Family::has_block_scales(problem)) {
    const ScaleType type = Family::BlockScales::type(problem);
    a = scaled(a, given.tensor(Family::a_block_scales), 1, type);
    b = scaled(b, given.tensor(Family::b_block_scales), problem.matmul.batch, type, true);
    shape.a_type = shape.b_type = ElementType::Bf16;  // sums of either kind of kernel are float32
  }
  const MatmulSums sums = sums_of_lines(lines, a, b, a_scales, b_scales);
  shape.m = static_cast<std::int64_t>(rows.size());
  return groups.answer(sums, rows, product_data(given, of.fill), shape, m, of.fill);
}

}  // namespace

const Trial grouped_trial = {.description = &Family::description,
                             .instances = grouped_instances,
                             .adopt = adopt,
                             .settle = settle,
                             .random = random_problem,
                             .fill = fill,
                             .answer = answer,
                             .list = nullptr};

}  // namespace tw
