// Runs a problem of attention on the virtual GPU.
#pragma once

#include "tests/programs/attention_case.h"
#include "vgpu/machine/machine.h"
#include "vgpu/tensor_map.h"

namespace tw::programs {

// On so many SMs. A refusal, or a counter that is not zero again, makes the report incomplete.
template <class Kernel>
vgpu::Report run_attention_on(AttentionCase& data, unsigned sms, const vgpu::Options& options,
                              const LaunchOrder& order = {}) {
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  const tw_attention_problem problem = data.problem();
  typename Skeleton::Params params;
  MatmulGrid grid = {};
  std::vector<std::uint64_t> memory(attention_workspace<Kernel>(problem, order) / 8);
  const std::size_t counters = std::min(memory.size() * 8, workspace_counter_bytes);
  const Workspace workspace = {memory.data(), memory.size() * 8};
  const Status status =
      plan_attention<Kernel>(params, grid, problem, sms, workspace, encode_for_virtual, order);
  if (!status.is_good()) {
    vgpu::Report refused;
    refused.incomplete.push_back(status.sentence());
    return refused;
  }
  const auto range = [](HostHeads& heads, const char* name, bool output) {
    const unsigned element = heads.bytes.empty() ? 2 : 1;
    return vgpu::GlobalRange{heads.tensor().data,
                             (heads.bits.size() - 2 * HostHeads::guard) * element, name, !output,
                             output};
  };
  std::vector<vgpu::GlobalRange> ranges = {
      range(data.q, "Q", false),
      range(data.output, "O", true),
      {data.log_sums.data(), data.log_sums.size() * 4, "log sums", false, true},
      {memory.data(), counters, "counters", true, true}};
  if (memory.size() * 8 > counters) {
    ranges.push_back(
        {memory.data() + counters / 8, memory.size() * 8 - counters, "parts", false, true});
  }
  if (data.k.rows > 0) {
    ranges.push_back(range(data.k, "K", false));
    if (!data.has_values) ranges.push_back(range(data.v, "V", false));
  }
  if (data.shape.ragged) {
    const std::size_t bytes = data.query_ends.size() * 4;
    ranges.push_back({data.query_ends.data(), bytes, "query ends", true, false});
    ranges.push_back({data.key_ends.data(), bytes, "key ends", true, false});
  }
  if (!data.range_begins.empty()) {
    const std::size_t bytes = data.range_begins.size() * 4;
    ranges.push_back({data.range_begins.data(), bytes, "range begins", true, false});
    ranges.push_back({data.range_ends.data(), bytes, "range ends", true, false});
  }
  unsigned cluster = 1;
  if constexpr (Kernel::parts_in_cluster) cluster = static_cast<unsigned>(params.schedule.parts);
  vgpu::Report report =
      vgpu::run({grid.ctas, cluster, Skeleton::threads, sizeof(typename Skeleton::Storage),
                 [&params] { Skeleton::run(params); }, 32, Kernel::dependent_launch},
                ranges, options);
  const auto is_set = [](std::uint64_t bits) { return bits != 0; };
  if (report.verdict() == vgpu::Report::Clean &&
      std::any_of(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(counters / 8),
                  is_set)) {
    report.incomplete.push_back("The counters are not zero after the launch.");
  }
  return report;
}

template <class Named>
vgpu::Report run_attention(AttentionCase& data, const vgpu::Options& options,
                           const LaunchOrder& order = {}) {
  return run_attention_on<Attention<typename Named::Page, Named>>(data, 3, options, order);
}

}  // namespace tw::programs
