#include "src/bench/measure.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "src/bench/device.h"

namespace tw::bench {

namespace {

// One candidate, captured as a graph of `launches` products.
struct Slice {
  cudaGraphExec_t graph = nullptr;
  int launches = 0;
  std::vector<double> microseconds;
  std::vector<Reading> readings;
  bool counts = false;        // the device's joules: it runs for several steps of the counter
  std::vector<double> watts;  // counted
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Reading median(const std::vector<Reading>& readings) {
  const auto of = [&readings](double Reading::*field) {
    std::vector<double> values;
    for (const Reading& reading : readings) values.push_back(reading.*field);
    return median(values);
  };
  return {of(&Reading::sm_mhz), of(&Reading::watts), of(&Reading::celsius)};
}

std::string capture(Slice& slice, const Candidate& candidate, int sets, int launches,
                    cudaStream_t stream) {
  std::string refused;
  cudaGraph_t graph;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "Beginning a capture");
  for (int launch = 0; launch < launches && refused.empty(); ++launch) {
    const Status status = candidate.launch(launch % sets, stream);
    if (!status.is_good()) refused = status.sentence();
  }
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  if (ended != cudaSuccess) {
    cudaGetLastError();  // it would be the next call's
    return refused.empty()
               ? std::string("It cannot be captured: ") + cudaGetErrorString(ended) + "."
               : refused;
  }
  if (refused.empty()) {
    must(cudaGraphInstantiate(&slice.graph, graph, 0), "Instantiating a graph");
    slice.launches = launches;
  }
  cudaGraphDestroy(graph);
  return refused;
}

// The mean power from one step of the device's counter to another while `end` has not come; 0 where
// there were no two.
double counted_watts(const Monitor& monitor, cudaEvent_t end) {
  using Clock = std::chrono::steady_clock;
  double counted = monitor.millijoules(), first = 0, last = 0;
  Clock::time_point first_at, last_at;
  while (cudaEventQuery(end) == cudaErrorNotReady) {
    const double now = monitor.millijoules();
    if (now != counted) {
      counted = last = now;
      last_at = Clock::now();
      if (first == 0) {
        first = now;
        first_at = last_at;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double seconds = std::chrono::duration<double>(last_at - first_at).count();
  return last > first ? (last - first) * 1e-3 / seconds : 0;
}

double time_slice(Slice& slice, cudaStream_t stream, cudaEvent_t begin, cudaEvent_t end,
                  Reading& reading) {
  static const Monitor monitor;
  must(cudaGraphLaunch(slice.graph, stream), "Launching a graph");
  must(cudaEventRecord(begin, stream), "Recording an event");
  must(cudaGraphLaunch(slice.graph, stream), "Launching a graph");
  must(cudaEventRecord(end, stream), "Recording an event");
  must(cudaEventSynchronize(begin), "Waiting for a graph");
  reading = monitor.read();
  if (slice.counts) {
    const double watts = counted_watts(monitor, end);
    if (watts > 0) slice.watts.push_back(watts);
  }
  must(cudaEventSynchronize(end), "Waiting for a graph");
  float milliseconds = 0;
  must(cudaEventElapsedTime(&milliseconds, begin, end), "Reading the time");
  return milliseconds * 1e3 / slice.launches;
}

}  // namespace

std::vector<Measurement> interleave(const std::vector<Candidate>& candidates, int sets, int rounds,
                                    double slice_milliseconds, unsigned seed) {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  must(cudaStreamCreate(&stream), "Creating a stream");
  must(cudaEventCreate(&begin), "Creating an event");
  must(cudaEventCreate(&end), "Creating an event");
  std::vector<Measurement> results(candidates.size());
  std::vector<Slice> slices(candidates.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    results[i].name = candidates[i].name;
    Slice trial;
    results[i].refused = capture(trial, candidates[i], sets, 3, stream);
    if (!results[i].refused.empty()) continue;
    Reading reading;
    const double guess = time_slice(trial, stream, begin, end, reading);
    cudaGraphExecDestroy(trial.graph);
    const int launches = std::clamp(static_cast<int>(slice_milliseconds * 1e3 / guess), sets, 2000);
    capture(slices[i], candidates[i], sets, launches, stream);
    slices[i].counts = slice_milliseconds >= counting_slice_milliseconds;
    order.push_back(i);
  }
  // Another order in each round: nobody always follows the same neighbour.
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      Reading& reading = slices[i].readings.emplace_back();
      slices[i].microseconds.push_back(time_slice(slices[i], stream, begin, end, reading));
    }
  }
  for (const std::size_t i : order) {
    const std::vector<double>& times = slices[i].microseconds;
    results[i].median_us = median(times);
    results[i].low_us = *std::min_element(times.begin(), times.end());
    results[i].high_us = *std::max_element(times.begin(), times.end());
    results[i].reading = median(slices[i].readings);
    if (!slices[i].watts.empty()) {
      results[i].millijoules = median(slices[i].watts) * results[i].median_us * 1e-3;
    }
    cudaGraphExecDestroy(slices[i].graph);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
  return results;
}

std::vector<Candidate> fastest(const std::vector<Candidate>& candidates, int sets,
                               double slice_milliseconds) {
  if (candidates.size() < 2) return candidates;
  const auto results = interleave(candidates, sets, 3, slice_milliseconds);
  std::size_t best = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ran()) continue;
    if (!results[best].ran() || results[i].median_us < results[best].median_us) best = i;
  }
  return {candidates[best]};
}

}  // namespace tw::bench
