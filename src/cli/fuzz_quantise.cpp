#include "src/cli/fuzz_quantise.h"

#include "src/quantise/random_shape.h"

namespace tw::cli {

namespace {

struct Case : UnorderedCase<QuantiseInstance, QuantiseShape, VerifiedQuantise> {};

Case shrink(const Case& failing) {
  const auto fails = [](const Case& one) { return judge(one).failed(); };
  return CaseShrinker<Case>(failing, fails).shrink([](CaseShrinker<Case>& shrinker) {
    shrinker.attempt([](Case& one) { one.fill = Fill::Integers; });
    shrinker.attempt([](Case& one) { one.shape.rule = BlockScale::real; });
    shrinker.attempt([](Case& one) { one.shape.scales = Major::K; });
    shrinker.attempt([](Case& one) { one.shape.unaligned = false; });
    shrinker.attempt([](Case& one) { one.shape.source_type = ElementType::Bf16; });
    shrinker.attempt([](Case& one) { one.shape.element_type = ElementType::E4m3; });
    shrinker.reduce([](Case& one) -> std::int64_t& { return one.shape.batch; }, 1);
    shrinker.reduce([](Case& one) -> std::int64_t& { return one.shape.m; }, 1);
    shrinker.reduce([](Case& one) -> std::int64_t& { return one.shape.k; }, 1);
  });
}

Case random_case(const QuantiseInstance& instance, std::mt19937_64& random) {
  const QuantiseShape shape = quantise::random_shape(instance, random);
  return {&instance, shape, quantise::fills[random() % 4], random() % 1000000,
          random_schedule(1, random)};
}

}  // namespace

void add_quantise_cases(std::vector<CaseMaker>& makers, const std::string& arch,
                        const std::string& instance) {
  add_cases(makers, quantise_instances(), arch, instance, random_case);
}

}  // namespace tw::cli
