#include "src/bench/harness/contest.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <optional>

#include "src/bench/peers/peers.h"

namespace tw::bench {

namespace {

// Candidates of one shape, with where their measurements go.
struct Contest {
  enum class Computes { Sums, WithEpilogue, Other };
  std::vector<Candidate> candidates;
  std::vector<Computes> computes;
  std::vector<std::function<void(const Measurement&)>> take;

  template <class Take>
  void add(const std::vector<Candidate>& some, Computes what, const Take& taken) {
    for (const Candidate& one : some) {
      candidates.push_back(one);
      computes.push_back(what);
      take.push_back(taken);
    }
  }
};

// A refusal is a measurement that did not run.
std::vector<Candidate> own_of(const BenchRequest& request, const OwnRequest& asked,
                              const Buffers& buffers, bool with_epilogue) {
  std::vector<Candidate> candidates;
  const Status status = own_candidates(candidates, asked, buffers, with_epilogue);
  if (!status.is_good()) return {{"tilewright", [status](int, void*) { return status; }}};
  if (request.each || request.own.candidates > 0) return candidates;
  return fastest(candidates, buffers.sets(), choosing_slice(request.slice));
}

// Everything of one shape that computes the same must agree, but for rounding: what is measured is
// then what was meant.
void compare_outputs(ShapeResult& result, const Contest& contest,
                     const std::vector<Measurement>& measured, const Buffers& buffers) {
  // A share of the norm; FP8 sums keep few bits on some devices.
  const double tolerance = bytes_of(result.shape.type) == 1 ? 0.05 : 0.01;
  std::vector<float> expected[2];
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!measured[i].ran() || contest.computes[i] == Contest::Computes::Other) continue;
    (void)buffers.take_output(0);
    if (!contest.candidates[i].launch(0, nullptr).is_good()) continue;
    const std::vector<float> values = buffers.take_output(0);
    std::vector<float>& first = expected[contest.computes[i] == Contest::Computes::Sums ? 0 : 1];
    if (first.empty()) first = values;
    double difference = 0, norm = 0;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (std::isnan(values[j]) && std::isnan(first[j])) continue;  // between lines
      difference += std::pow(double(values[j]) - first[j], 2);
      norm += double(first[j]) * first[j];
    }
    if (difference <= tolerance * tolerance * norm) continue;
    result.wrong = true;
    result.notes.push_back(fmt::format("The output of {} differs by {:.3g} of its norm.",
                                       measured[i].name, std::sqrt(difference / norm)));
  }
}

// Where candidates of one kind stand in a contest: the fastest of them alone, and with a foreign
// kernel between launches.
void add_fastest(Contest& contest, const BenchRequest& request, const std::vector<Candidate>& some,
                 int sets, Contest::Computes what, std::optional<Measurement>& alone,
                 std::optional<Measurement>& between) {
  const double choosing = choosing_slice(request.slice);
  const std::vector<Candidate> first = fastest(some, sets, choosing);
  std::vector<Candidate> second;
  if (request.between) second = fastest(some, sets, choosing, true);
  const bool is_same = !second.empty() && second.front().name == first.front().name;
  contest.add(first, what, [&alone, &between, is_same](const Measurement& one) {
    alone = one;
    if (is_same) between = one;
  });
  if (is_same) return;
  contest.add(second, what, [&between](const Measurement& one) { between = one; });
}

}  // namespace

ShapeResult measure(const BenchRequest& request, const MeasuredCase& what, double foreign_us) {
  using enum Contest::Computes;
  const Buffers buffers(what, 1, request.nodes);
  int sets = buffers.sets();
  const double choosing = choosing_slice(request.slice);
  ShapeResult result;
  result.shape = what.shape;
  const auto into = [](std::optional<Measurement>& place) {
    return [&place](const Measurement& one) { place = one; };
  };
  const auto onto = [](std::vector<Measurement>& list) {
    return [&list](const Measurement& one) { list.push_back(one); };
  };
  const std::vector<Candidate> own = own_of(request, request.own, buffers, false);
  Peers peers;
  if (request.peer_function != nullptr) {
    peers = peer_of_library(buffers, request.peer_function, request.peer_library);
  } else if (request.peers != "none") {
    peers = peers_of(buffers, {request.algorithms, request.plan_seconds}, own);
  }
  result.foreign_us = foreign_us;
  result.peer_tried = peers.computes_the_same ? peers.plain.size() : 0;
  result.peer_share = peers.share;
  result.notes = peers.notes;
  result.wrong = peers.own_is_wrong;
  Contest contest;
  add_fastest(contest, request, peers.plain, sets, peers.computes_the_same ? Sums : Other,
              result.peer, result.peer_between);
  const std::vector<Candidate> peer(contest.candidates.begin(),
                                    contest.candidates.begin() + !contest.candidates.empty());
  contest.add(own, Sums, onto(result.own));
  if (request.nodes.any()) {
    contest.add(fastest(peers.fused, sets, choosing), WithEpilogue, into(result.peer_fused));
    for (const Candidate& one : peer) {
      if (!peers.then_kernel) continue;
      contest.add({peers.then_kernel(one)}, WithEpilogue, into(result.peer_then_kernel));
    }
    contest.add(own_of(request, request.own, buffers, true), WithEpilogue,
                onto(result.own_epilogue));
  }
  bool is_fastest = false, is_fastest_between = false;
  if (request.regret) {
    OwnRequest shortlist;
    shortlist.candidates = shortlist_length;
    std::vector<Candidate> compiled;
    (void)own_candidates(compiled, shortlist, buffers);
    // The library's choice is not measured against itself.
    const auto is_own = [&own](const Candidate& one) { return one.name == own.front().name; };
    const auto best = fastest(compiled, sets, choosing);
    is_fastest = !best.empty() && is_own(best.front());
    if (!is_fastest) contest.add(best, Sums, into(result.compiled));
    if (request.between) {
      const auto best_between = fastest(compiled, sets, choosing, true);
      is_fastest_between = !best_between.empty() && is_own(best_between.front());
      if (!is_fastest_between) contest.add(best_between, Sums, into(result.compiled_between));
    }
  }
  std::optional<Buffers> larger;
  if (what.compared_to > 0) {
    const MeasuredCase larger_case = rounded_up(what);
    result.larger_shape = larger_case.shape;
    larger.emplace(larger_case, 1);
    sets = std::min(sets, larger->sets());
    contest.add(fastest(own_of(request, request.own, *larger, false), sets, choosing), Other,
                into(result.rounded_up));
  }
  const auto measured = interleave(contest.candidates, sets, request.rounds, request.slice, 1,
                                   {true, request.between});
  for (std::size_t i = 0; i < measured.size(); ++i) contest.take[i](measured[i]);
  if (is_fastest && result.best() != nullptr) result.compiled = *result.best();
  if (is_fastest_between && result.best() != nullptr) result.compiled_between = *result.best();
  // Where there is no product, a peer's file judges each launch of ours that it is given, as
  // attention's does, or none; a function's result is compared here.
  if (what.description().product != nullptr || request.peer_function != nullptr) {
    compare_outputs(result, contest, measured, buffers);
  }
  return result;
}

}  // namespace tw::bench
