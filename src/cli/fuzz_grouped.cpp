#include "src/cli/fuzz_grouped.h"

#include "src/grouped/random_shape.h"

namespace tw::cli {

namespace {

struct Case : UnorderedCase<GroupedInstance, GroupedShape, VerifiedGrouped> {};

// Rows behind the last group, and what the groups have, make m.
Case shrink(const Case& failing) {
  const auto fails = [](const Case& one) { return judge(one).failed(); };
  return CaseShrinker<Case>(failing, fails).shrink([](CaseShrinker<Case>& shrinker) {
    const auto resize = [&](const auto& change) {
      shrinker.attempt([&](Case& one) {
        std::int64_t spare = one.shape.spare();
        std::vector<std::int32_t> sizes = one.shape.sizes;
        change(one.shape, sizes, spare);
        one.shape.resize(sizes, spare);
      });
    };
    shrinker.attempt([](Case& one) { one.shape.matmul.epilogue = {}; });
    shrinker.attempt([](Case& one) { one.shape.column_scales = false; });
    resize([](GroupedShape& shape, auto&, auto&) { shape.capacity = 0; });
    resize([](GroupedShape&, auto&, std::int64_t& spare) { spare = 0; });
    for (std::size_t group = shrinker.best().shape.sizes.size(); group-- > 0;) {
      resize([&](GroupedShape&, std::vector<std::int32_t>& sizes, auto&) {
        if (group < sizes.size() && sizes.size() > 1) {
          sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(group));
        }
      });
      for (const int part : {1, 2, 0}) {
        resize([&](GroupedShape&, std::vector<std::int32_t>& sizes, auto&) {
          if (group >= sizes.size() || sizes[group] == 0) return;
          sizes[group] -= part == 0 ? 1 : sizes[group] / part;
        });
      }
    }
    shrinker.reduce([](Case& one) -> std::int64_t& { return one.shape.matmul.n; }, 1);
    shrinker.reduce([](Case& one) -> std::int64_t& { return one.shape.matmul.k; }, 1);
    shrinker.reduce([](Case& one) -> std::int64_t& { return one.shape.a_rows; }, 1);
  });
}

Case random_case(const GroupedInstance& instance, std::mt19937_64& random) {
  const Fill fills[] = {Fill::Integers, Fill::Integers, Fill::Position, Fill::Normal};
  const GroupedShape shape = grouped::random_shape(instance, random);
  return {&instance, shape, fills[random() % 4], random() % 1000000,
          random_schedule(instance.config.tiling.cluster.size(), random)};
}

}  // namespace

void add_grouped_cases(std::vector<CaseMaker>& makers, const std::string& arch,
                       const std::string& instance) {
  add_cases(makers, grouped_instances(), arch, instance, random_case);
}

}  // namespace tw::cli
