#include "tests/library/stand_in.h"

#include "src/library/device.h"

namespace tw {

namespace tests {

namespace {

Status record(const Event& event) {
  if (stand_in().records) stand_in().events.push_back(event);
  return Status::good();
}

template <unsigned index>
Status supports(const MatmulProblem& problem, const MatmulOrder& order) {
  const MatmulConfig& config = matmul_instances()[index].config;
  if (problem.a.type != config.tiling.a_type) return Status::refused("It multiplies another type.");
  if (problem.d.type != config.d_type) return Status::refused("It stores another type.");
  if (problem.b.major != config.tiling.b_major) return Status::refused("It reads B the other way.");
  return record({Event::Supports, nullptr, 0, nullptr, &matmul_instances()[index], problem, order});
}

template <std::size_t needed>
Status workspace(std::size_t& bytes, const MatmulProblem&, const MatmulOrder&) {
  bytes = needed;
  return Status::good();
}

template <unsigned index>
Status launch(const MatmulProblem& problem, const MatmulOrder& order, const Workspace& workspace,
              const TraceBuffer&, void* stream) {
  if (stand_in().launch_fails) return Status::refused("The launch failed: out of luck.");
  return record({Event::Launch, workspace.data, workspace.bytes, stream, &matmul_instances()[index],
                 problem, order});
}

template <unsigned index>
MatmulInstance instance(const char* name, const MatmulConfig& config) {
  constexpr std::size_t needed = index == 1 ? split_workspace_bytes : 0;
  return {name,
          "sm90a",
          config,
          false,
          false,
          false,
          false,
          4,
          0,
          supports<index>,
          workspace<needed>,
          launch<index>,
          nullptr};
}

}  // namespace

StandIn& stand_in() {
  static StandIn only;
  return only;
}

}  // namespace tests

std::span<const MatmulInstance> matmul_instances() {
  static const MatmulInstance table[] = {
      tests::instance<0>("whole", {}),
      tests::instance<1>("split", {.tiling = {.a_type = ElementType::Fp16}, .split = Split::Parts}),
      tests::instance<2>("rows", {.tiling = {.b_major = Major::MN}}),
  };
  return table;
}

namespace library {

Place current_device() { return {tests::stand_in().device, "sm90a", 132, tests::stand_in().name}; }

Status clear_memory(void* memory, std::size_t bytes, void* stream) {
  return tests::record({tests::Event::Clear, memory, bytes, stream});
}

LoadsWhileCapturing::LoadsWhileCapturing() : mode_(0) {}
LoadsWhileCapturing::~LoadsWhileCapturing() = default;

}  // namespace library
}  // namespace tw
