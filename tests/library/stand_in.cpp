#include "tests/library/stand_in.h"

#include "src/dispatch/choose_launch.h"

namespace tw {

namespace tests {

Status record(const Event& event) {
  if (stand_in().records) stand_in().events.push_back(event);
  return Status::good();
}

namespace {

template <unsigned index>
KernelProblem take(const Checked& checked) {
  return {checked, as_read(checked, product_facts(matmul_instances()[index]))};
}

template <unsigned index>
Status takes(const KernelProblem& taken, const LaunchOrder& order) {
  const MatmulConfig& config = config_of(matmul_instances()[index]);
  const MatmulProblem& problem = taken.product;
  if (problem.a.type != config.tiling.a_type) return Status::refused("It multiplies another type.");
  if (problem.d.type != config.d_type) return Status::refused("It stores another type.");
  if (stand_in().wants_alignment &&
      alignment_of(problem.a.data, problem.a.pitch, 1, 0, problem.a.type) < 16) {
    return Status::refused("It wants rows of A that begin at multiples of 16 bytes.");
  }
  if (problem.b.major != config.tiling.b_major) return Status::refused("It reads B the other way.");
  return record({Event::Supports, nullptr, 0, nullptr, &matmul_instances()[index], problem, order});
}

template <std::size_t needed>
Status workspace(std::size_t& bytes, const Checked&, const LaunchOptions&) {
  bytes = needed;
  return Status::good();
}

template <unsigned index>
Status launch(const Checked& checked, const LaunchOptions& options, void* stream) {
  if (stand_in().launch_fails) return Status::refused("The launch failed: out of luck.");
  const Instance& instance = matmul_instances()[index];
  return record({Event::Launch, options.workspace.data, options.workspace.bytes, stream, &instance,
                 as_read(checked, product_facts(instance)), options.order,
                 options.workspace.counters()});
}

Status simulate(const Checked&, const LaunchOptions&, const vgpu::Options&, vgpu::Report&) {
  return record({Event::Simulate, nullptr, 0, nullptr});
}

template <unsigned index>
Instance instance(const char* name, const ProductFacts& facts) {
  constexpr std::size_t needed = index == 1 ? split_workspace_bytes : 0;
  return {name,          "sm90a", 1, &facts, take<index>, takes<index>, workspace<needed>,
          launch<index>, nullptr};
}

Instance simulated(Instance instance) {
  instance.simulate = simulate;
  return instance;
}

constexpr ProductFacts facts_with(const MatmulConfig& config) {
  return {config, 4, 0, false, false, false, 0};
}
constexpr ProductFacts whole = facts_with({});
constexpr ProductFacts split =
    facts_with({.tiling = {.a_type = ElementType::Fp16}, .split = Split::Parts});
constexpr ProductFacts rows = facts_with({.tiling = {.b_major = Major::MN}});

}  // namespace

StandIn& stand_in() {
  static StandIn only;
  return only;
}

}  // namespace tests

std::span<const Instance> matmul_instances() {
  static const Instance table[] = {
      tests::instance<0>("whole", tests::whole),
      tests::instance<1>("split", tests::split),
      tests::instance<2>("rows", tests::rows),
  };
  static const Instance with_first[] = {tests::simulated(table[0]), table[1], table[2]};
  return tests::stand_in().simulates ? with_first : table;
}

}  // namespace tw
