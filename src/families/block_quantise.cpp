#include "src/families/block_quantise.h"

#include "src/verify/quantise_source.h"
#include "tilewright/family/block_quantise/launch.h"

namespace tw {

namespace {

using Family = BlockQuantiseFamily;
using Problem = Family::Problem;

const BlockQuantiseConfig& config_of_instance(const Instance& instance) {
  return *static_cast<const BlockQuantiseConfig*>(instance.facts);
}

void adopt(void* given, const Instance& instance,
           const std::function<bool(const char*)>& is_given) {
  const BlockQuantiseConfig& config = config_of_instance(instance);
  Problem& problem = *static_cast<Problem*>(given);
  if (!is_given("elements_type")) problem.elements.type = static_cast<tw_type>(config.element_type);
  if (!is_given("scale")) problem.scale = static_cast<tw_scale_type>(config.scale_type);
}

// Every source, rule and order of scales; often ragged, sometimes of whole blocks.
void random_problem(Case& made, Random& random) {
  constexpr tw_type sources[] = {TW_BF16, TW_FP16, TW_FP32};
  Problem& problem = made.as<Problem>();
  problem.m = between(random, 1, random() % 3 == 0 ? 300 : 140);
  problem.k = between(random, 1, random() % 3 == 0 ? 160 : 70) * 4;
  if (random() % 4 == 0) problem.k = 128 * between(random, 1, 4);
  problem.source.type = sources[random() % 3];
  problem.rule = random() % 2 == 0 ? TW_SCALE_FLOOR : TW_SCALE_RCEIL;
  problem.scale_order = random() % 3 == 0 ? TW_SCALES_IN_ROWS : TW_SCALES_IN_BLOCKS;
  if (problem.scale == TW_UE4M3) {
    problem.tensor_scale = static_cast<float>(between(random, 1, 40)) / 16;
  }
}

void fill(HostProblem& data, const Case& of) {
  fill_to_quantise(data.tensor(Family::source), of.fill, of.seed);
}

void reference(const Checked& on_host) {
  static_cast<void>(quantise_on_host(BlockQuantiseLaunch::stated(on_host)));
}

InstanceWords list(const Instance& instance) {
  const BlockQuantiseConfig& config = config_of_instance(instance);
  return {std::string("16/32 bit -> ") + name_of(config.element_type),
          "-",
          "128x128",
          "1x1",
          "-",
          name_of(config.scale_type),
          "static"};
}

}  // namespace

const Trial block_quantise_trial = {.description = &Family::description,
                                    .instances = block_quantise_instances,
                                    .adopt = adopt,
                                    .settle = nullptr,
                                    .random = random_problem,
                                    .fill = fill,
                                    .answer = exactly<reference>,
                                    .list = list,
                                    .tracks = tracks_of_stream<BlockQuantiseConfig>};

}  // namespace tw
