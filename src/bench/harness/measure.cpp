#include "src/bench/harness/measure.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "src/bench/harness/device.h"
#include "src/bench/harness/foreign.h"

namespace tw::bench {

namespace {

// One candidate, captured as a graph of `launches` products, which is run `replays` times.
struct Slice {
  std::size_t candidate = 0;
  bool is_between = false;  // a foreign kernel follows each product
  cudaGraphExec_t graph = nullptr;
  int launches = 0;
  int replays = 1;
  std::vector<double> microseconds;
  std::vector<Reading> readings;
  bool counts = false;        // the device's joules: it runs for several steps of the counter
  std::vector<double> watts;  // counted
};

// A graph has no more nodes: instantiating them would take longer than running them.
constexpr int most_launches = 2000;

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
    if (slice.is_between) launch_foreign(stream);
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
  const auto run = [&] {
    for (int i = 0; i < slice.replays; ++i) {
      must(cudaGraphLaunch(slice.graph, stream), "Launching a graph");
    }
  };
  run();
  must(cudaEventRecord(begin, stream), "Recording an event");
  run();
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
  return milliseconds * 1e3 / slice.launches / slice.replays;
}

// A short look tells how many launches a slice has.
std::string prepare(Slice& slice, const Candidate& candidate, int sets, double slice_milliseconds,
                    cudaStream_t stream, cudaEvent_t begin, cudaEvent_t end) {
  Slice trial = slice;
  const std::string refused = capture(trial, candidate, sets, 3, stream);
  if (!refused.empty()) return refused;
  Reading reading;
  const double wanted = slice_milliseconds * 1e3 / time_slice(trial, stream, begin, end, reading);
  cudaGraphExecDestroy(trial.graph);
  const int launches = std::clamp(static_cast<int>(wanted), sets, most_launches);
  slice.replays = std::max(1, static_cast<int>(std::lround(wanted / launches)));
  slice.counts = slice_milliseconds >= counting_slice_milliseconds;
  return capture(slice, candidate, sets, launches, stream);
}

void take(Measurement& result, const Slice& slice) {
  const std::vector<double>& times = slice.microseconds;
  const double low = *std::min_element(times.begin(), times.end());
  const double high = *std::max_element(times.begin(), times.end());
  if (slice.is_between) {
    result.between_us = median(times);
    result.between_low_us = low;
    result.between_high_us = high;
    return;
  }
  result.median_us = median(times);
  result.low_us = low;
  result.high_us = high;
  result.reading = median(slice.readings);
  if (!slice.watts.empty()) {
    result.millijoules = median(slice.watts) * result.median_us * 1e-3;
  }
}

}  // namespace

std::vector<Measurement> interleave(const std::vector<Candidate>& candidates, int sets, int rounds,
                                    double slice_milliseconds, unsigned seed, Columns columns) {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  must(cudaStreamCreate(&stream), "Creating a stream");
  must(cudaEventCreate(&begin), "Creating an event");
  must(cudaEventCreate(&end), "Creating an event");
  std::vector<Measurement> results(candidates.size());
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    results[i].name = candidates[i].name;
    for (const bool is_between : {false, true}) {
      if (!(is_between ? columns.between : columns.alone) || !results[i].ran()) continue;
      Slice slice;
      slice.candidate = i;
      slice.is_between = is_between;
      results[i].refused =
          prepare(slice, candidates[i], sets, slice_milliseconds, stream, begin, end);
      if (results[i].ran()) slices.push_back(slice);
    }
  }
  std::vector<std::size_t> order(slices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Another order in each round: nobody always follows the same neighbour.
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      Reading& reading = slices[i].readings.emplace_back();
      slices[i].microseconds.push_back(time_slice(slices[i], stream, begin, end, reading));
    }
  }
  for (const Slice& slice : slices) {
    take(results[slice.candidate], slice);
    cudaGraphExecDestroy(slice.graph);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
  return results;
}

std::vector<Candidate> fastest(const std::vector<Candidate>& candidates, int sets,
                               double slice_milliseconds, bool between) {
  if (candidates.size() < 2) return candidates;
  constexpr std::size_t many = 16;
  constexpr double near_the_fastest = 1.25;
  const Columns columns = {!between, between};
  std::vector<Candidate> looked = candidates;
  const auto time_of = [between](const Measurement& one) {
    return between ? one.between_us : one.median_us;
  };
  const auto best_of = [&](const std::vector<Measurement>& results) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].ran()) continue;
      if (!results[best].ran() || time_of(results[i]) < time_of(results[best])) best = i;
    }
    return best;
  };
  if (candidates.size() > many) {
    const auto looks = interleave(candidates, sets, 1, slice_milliseconds / 2, 1, columns);
    const Measurement& best = looks[best_of(looks)];
    if (!best.ran()) return {candidates.front()};
    looked.clear();
    for (std::size_t i = 0; i < looks.size(); ++i) {
      const bool is_near = looks[i].ran() && time_of(looks[i]) <= near_the_fastest * time_of(best);
      if (is_near) looked.push_back(candidates[i]);
    }
  }
  return {looked[best_of(interleave(looked, sets, 3, slice_milliseconds, 1, columns))]};
}

double foreign_microseconds(int rounds, double slice_milliseconds) {
  const Candidate foreign = {"foreign", [](int, void* stream) {
                               launch_foreign(stream);
                               return Status::good();
                             }};
  return interleave({foreign}, 1, rounds, slice_milliseconds).front().median_us;
}

}  // namespace tw::bench
