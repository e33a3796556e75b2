// Attention through the library on the virtual GPU: whichever kernel is taken, the result is within
// the bound that the types of its operands have (docs/attention.md).
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "src/families/attention.h"
#include "tests/families/seed.h"
#include "tests/library/of_family.h"
#include "tilewright.h"
#include "tilewright/family/attention/kernel.h"

namespace tw::tests {
namespace {

using Family = AttentionFamily;
using Problem = tw_attention_problem;

const AttentionConfig& attention_config(const Instance& instance) {
  return *static_cast<const AttentionConfig*>(instance.facts);
}

// By the kernel of that name, or by the one that the library takes; which must keep the bound.
tw_status run(const Verified& verified, HostProblem& ran, const char* instance) {
  tw_attention_options options;
  tw_attention_init(nullptr, &options);
  options.target = "sm90a";  // runs the kernels of sm_80, too
  options.instance = instance;
  const auto problem = of_family<Problem>(*verified.of().trial, ran.placed());
  return tw_attention_simulate(&problem, &options);
}

// Random problems of each kernel go to the library's choice and to every kernel that takes them.
TEST(SimulateAttention, EveryKernelKeepsTheBoundOfItsOperandsTypes) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  std::map<ElementType, int> judged;
  std::map<std::pair<ElementType, ElementType>, int> multiplied;
  for (const Instance& instance : attention_instances()) {
    Case made = random_case(attention_of_any_kernel, instance, random);
    made.fill = Fill::Normal;
    if (!serves(made).is_good()) continue;  // caps of one-hot rows
    const Verified verified(made);
    const ElementType type = verified.given().tensor(Family::q).type;
    const auto expect_right = [&](const char* name) {
      HostProblem ran = verified.given();
      const tw_status status = run(verified, ran, name);
      if (name != nullptr && status == TW_UNSUPPORTED) return false;
      EXPECT_EQ(status, TW_OK) << run_line(made) << "\n" << tw_message();
      const Comparison comparison = verified.compare(ran);
      EXPECT_TRUE(comparison.good())
          << (name != nullptr ? name : "chosen") << ": " << run_line(made) << "\n"
          << comparison.complaint();
      return true;
    };
    judged[type] += expect_right(nullptr);
    for (const Instance& other : attention_instances()) {
      if (attention_config(other).memory_type() != type) continue;
      multiplied[{type, attention_config(other).product_type()}] += expect_right(other.name);
    }
    if (HasFailure()) return;
  }
  for (const ElementType type : {ElementType::Bf16, ElementType::Fp16, ElementType::E4m3}) {
    EXPECT_GE(judged[type], 2) << name_of(type);
  }
  // Operands of e4m3 are multiplied as they are by one kernel, and as bf16 by another.
  EXPECT_GE((multiplied[{ElementType::E4m3, ElementType::E4m3}]), 1);
  EXPECT_GE((multiplied[{ElementType::E4m3, ElementType::Bf16}]), 1);
}

// The bound finds an output that is wrong by a few of the last places of its weights' type.
TEST(SimulateAttention, TheBoundIsNotMuchWiderThanTheRounding) {
  const std::pair<ElementType, double> shares[] = {
      {ElementType::Bf16, 0x1p-5}, {ElementType::Fp16, 0x1p-7}, {ElementType::E4m3, 0.5}};
  for (const auto& [type, share] : shares) {
    const auto of_type = std::find_if(
        attention_instances().begin(), attention_instances().end(),
        [&](const Instance& one) { return attention_config(one).memory_type() == type; });
    Case made = usual_case(attention_of_any_kernel, *of_type);
    auto& problem = made.as<Problem>();
    problem.sequences = 1;
    problem.heads = problem.key_heads = 1;
    problem.queries = 64;
    problem.keys = 96;
    made.fill = Fill::Normal;
    ASSERT_TRUE(serves(made).is_good()) << serves(made).sentence();
    const Verified verified(made);
    HostProblem ran = verified.given();
    ASSERT_EQ(run(verified, ran, nullptr), TW_OK) << tw_message();
    EXPECT_TRUE(verified.compare(ran).good()) << verified.compare(ran).complaint();
    HostMatrix& output = ran.tensor(Family::output);
    std::int64_t spoilt = 0;
    for (std::int64_t row = 0; row < output.rows; ++row) {
      for (std::int64_t column = 0; column < output.columns; ++column) {
        const double value = output.at(0, row, column);
        output.set(0, row, column, value * (1 + share));
        ++spoilt;
      }
    }
    EXPECT_GT(verified.compare(ran).wrong, spoilt / 10) << name_of(type);
  }
}

// The bound counts on it: kernels whose tensor core adds up more keys are taken by nobody who has
// not said so.
TEST(SimulateAttention, SumsOfE4m3AreNotLongerThanIsSaid) {
  int refused = 0;
  for (const Instance& instance : attention_instances()) {
    if (attention_config(instance).product_type() != ElementType::E4m3) continue;
    Case made = usual_case(attention_trial, instance);
    auto& problem = made.as<Problem>();
    problem.keys = 300;
    const std::int64_t summed = attention_config(instance).summed_keys(300);
    EXPECT_TRUE(serves(made).is_good()) << serves(made).sentence();
    problem.sums_join_every = summed;
    EXPECT_TRUE(serves(made).is_good()) << serves(made).sentence();
    problem.sums_join_every = summed - 1;
    EXPECT_FALSE(serves(made).is_good()) << instance.name;
    problem.sums_join_every = 0;
    EXPECT_EQ(serves(made).is_good(), summed <= 128) << instance.name;
    refused += summed > 128;
  }
  EXPECT_GE(refused, 3);
}

}  // namespace
}  // namespace tw::tests
