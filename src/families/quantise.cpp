#include "src/families/quantise.h"

#include "src/verify/quantise_source.h"
#include "tilewright/family/quantise/kernel.h"
#include "tilewright/family/quantise/on_host.h"

namespace tw {

namespace {

using Problem = tw_quantise_problem;

void adopt(void* problem, const Instance& instance, const std::function<bool(const char*)>& given) {
  Problem& made = *static_cast<Problem*>(problem);
  if (!given("scale_rows")) {
    made.scale_rows = static_cast<const QuantiseConfig*>(instance.facts)->scale_rows;
  }
  if (QuantiseFamily::copies(made)) made.elements.type = made.source.type;
}

// Every type and rule; often ragged, sometimes of whole blocks; some in a batch.
void random_problem(Case& made, Random& random) {
  constexpr tw_type sources[] = {TW_BF16, TW_FP16, TW_FP32};
  Problem& problem = made.as<Problem>();
  problem.m = between(random, 1, random() % 3 == 0 ? 300 : 70);
  problem.k = between(random, 1, random() % 3 == 0 ? 700 : 300);
  if (random() % 4 == 0) problem.m = 128 * between(random, 1, 2);
  if (random() % 4 == 0) problem.k = 128 * between(random, 1, 4);
  if (random() % 4 == 0) problem.batch = between(random, 2, 3);
  problem.source.type = sources[random() % 3];
  problem.elements.type = random() % 2 == 0 ? TW_E4M3 : TW_E5M2;
  if (QuantiseFamily::copies(problem)) problem.elements.type = problem.source.type;
  problem.powers_of_two = random() % 3 == 0;
}

void fill(HostProblem& data, const Case& of) {
  fill_to_quantise(data.tensor(QuantiseFamily::source), of.fill, of.seed);
}

InstanceWords list(const Instance& instance) {
  const auto& config = *static_cast<const QuantiseConfig*>(instance.facts);
  if (config.scale_rows == 0) return {"16/32 bit", "-", "-", "1x1", "-", "-", "static"};
  return {"16/32 bit -> fp8",
          "-",
          std::to_string(config.tile_rows()) + "x128",
          "1x1",
          "-",
          std::to_string(config.scale_rows) + "x128",
          "static"};
}

}  // namespace

const Trial quantise_trial = {.description = &QuantiseFamily::description,
                              .instances = quantise_instances,
                              .adopt = adopt,
                              .settle = nullptr,
                              .random = random_problem,
                              .fill = fill,
                              .answer = exactly<quantise_on_host>,
                              .list = list,
                              .tracks = tracks_of_stream<QuantiseConfig>};

}  // namespace tw
