#include "src/library/decide.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <vector>

#include "src/library/failure.h"
#include "src/library/log.h"
#include "src/library/recent.h"

namespace tw::library {

namespace {

bool goes_before(const Choice& a, const Choice& b) {
  return a.measured != b.measured ? a.measured : a.microseconds < b.microseconds;
}

// The cheapest form of the operands.
Decision cheapest(const ConvertedProblem& converted, const DispatchRequest& request) {
  std::optional<Decision> best;
  std::string sentence;
  for (const bool other_a : {false, true}) {
    for (const bool other_b : {false, true}) {
      if ((other_a && !converted.other_a) || (other_b && !converted.other_b)) continue;
      ConvertedProblem form = converted;
      Decision decision = {{}, other_a, other_b, 0};
      std::vector<Rejection> rejections;
      const Status status = choose(decision.choice, decision.problem(form), request,
                                   logs_dispatch() ? &rejections : nullptr);
      log_dispatch(form.problem, rejections, status, decision.choice);
      if (!status.is_good()) {
        if (sentence.empty()) sentence = status.sentence();
      } else if (!best || goes_before(decision.choice, best->choice)) {
        best = decision;
      }
    }
  }
  if (!best) throw Failure{TW_UNSUPPORTED, sentence};
  return *best;
}

}  // namespace

DispatchRequest request_of(const tw_matmul_options& options, const Place& place) {
  DispatchRequest request;
  request.target = place.target;
  request.sms = place.sms;
  request.device = place.name;
  request.batch_invariant = options.batch_invariant != 0;
  request.fast_accumulation = options.fast_accumulation != 0;
  request.instance = options.instance;
  request.workspace_limit = options.workspace_limit;
  return request;
}

const MatmulInstance* named_instance(const tw_matmul_options& options) {
  if (options.instance == nullptr) return nullptr;
  for (const MatmulInstance& instance : matmul_instances()) {
    if (std::strcmp(instance.name, options.instance) == 0) return &instance;
  }
  throw Failure{TW_INVALID, fmt::format("There is no instance '{}'; ./tw list shows those that "
                                        "there are.",
                                        options.instance)};
}

Decision decide(const ConvertedProblem& converted, const tw_matmul_options& options,
                const Place& place, const DecisionKey& key) {
  // Lives as long as the process: threads may still call while it ends.
  static auto& cache = *new Recent<DecisionKey, Decision>;
  Decision decision;
  if (cache.find(decision, key)) return decision;
  std::optional<LoadsWhileCapturing> loads;
  if (place.device >= 0) loads.emplace();
  decision = cheapest(converted, request_of(options, place));
  if (place.device >= 0) {
    ConvertedProblem form = converted;
    const Status status = decision.choice.instance->workspace(
        decision.workspace_bytes, decision.problem(form), decision.choice.order);
    if (!status.is_good()) throw Failure{TW_CUDA, status.sentence()};
    if (decision.workspace_bytes > options.workspace_limit) {
      throw Failure{TW_UNSUPPORTED,
                    fmt::format("The kernel {} needs a workspace of {} bytes, but workspace_limit "
                                "is {}.",
                                decision.choice.instance->name, decision.workspace_bytes,
                                options.workspace_limit)};
    }
  }
  cache.store(decision, key);
  return decision;
}

}  // namespace tw::library
