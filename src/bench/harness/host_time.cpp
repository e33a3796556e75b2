#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>

#include "src/bench/harness/device.h"
#include "src/bench/harness/forms.h"
#include "src/bench/harness/own.h"
#include "tilewright.h"

namespace tw::bench {

namespace {

// Calls one by one; what they enqueue is waited for before the queue fills and makes them wait.
template <class Call>
Status median_call(double& median_us, const Call& call) {
  constexpr int calls = 1000, between_waits = 100;
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const tw_status status = call();
    const auto end = std::chrono::steady_clock::now();
    if (status != TW_OK) return Status::refused(tw_message());
    times.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    if (i % between_waits == 0) must(cudaDeviceSynchronize(), "Waiting for products");
  }
  must(cudaDeviceSynchronize(), "Waiting for products");
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  median_us = times[calls / 2];
  return Status::good();
}

}  // namespace

Status measure_host_time(HostTime& time) {
  MeasuredCase tiny;
  Status status = make_case(tiny, matmul_form, {64, 64, 64}, ElementType::Bf16, {});
  if (!status.is_good()) return status;
  const Buffers buffers(tiny, 1);
  const auto& problem = buffers.problem(0).as<tw_matmul_problem>();
  tw_matmul_options options;
  tw_matmul_init(nullptr, &options);
  options.workspace_is_ready = 1;
  tw_matmul_plan* made = nullptr;
  if (tw_matmul_plan_create(&made, &problem, &options) != TW_OK) {
    return Status::refused(tw_message());
  }
  const std::unique_ptr<tw_matmul_plan, void (*)(tw_matmul_plan*)> plan(made,
                                                                        tw_matmul_plan_destroy);
  const DeviceWorkspace memory(tw_matmul_plan_workspace_size(made));
  const Workspace& workspace = memory.workspace;
  cudaStream_t stream;
  must(cudaStreamCreate(&stream), "Creating a stream");
  const auto plain = [&] {
    return tw_matmul(&problem, &options, workspace.data, workspace.bytes, stream);
  };
  const auto planned = [&] {
    return tw_matmul_plan_run(made, &problem, workspace.data, workspace.bytes, stream);
  };
  status = median_call(time.call_us, plain);  // warms up
  if (status.is_good()) status = median_call(time.call_us, plain);
  if (status.is_good()) status = median_call(time.planned_us, planned);
  cudaStreamDestroy(stream);
  return status;
}

}  // namespace tw::bench
