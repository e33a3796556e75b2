// Stand-ins for the kernels of every family but matmul: they take whatever arrives.
#include "src/instances/instance.h"
#include "tilewright/family/attention/launch.h"
#include "tilewright/family/conv2d/launch.h"
#include "tilewright/family/four_bit/launch.h"
#include "tilewright/family/grouped/launch.h"

namespace tw {

namespace {

KernelProblem take(const Checked& problem) {
  const bool multiplies = problem.description().product != nullptr;
  return {problem, multiplies ? problem.product() : MatmulProblem{}};
}
Status takes(const KernelProblem&, const LaunchOrder&) { return Status::good(); }
Status asks(std::size_t& bytes, const Checked&, const LaunchOptions&) {
  bytes = 0;
  return Status::good();
}
Status starts(const Checked&, const LaunchOptions&, void*) { return Status::good(); }

}  // namespace

std::span<const Instance> blockwise_instances() {
  static constexpr ProductFacts facts = {};
  static const Instance table[] = {
      {"scales", "sm90a", 1, &facts, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> requantised_instances() {
  static constexpr ProductFacts facts = {};
  static const Instance table[] = {
      {"again", "sm90a", 1, &facts, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> conv2d_instances() {
  static constexpr Conv2dFacts facts = {};
  static const Instance table[] = {
      {"convolves", "sm90a", 1, &facts, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> grouped_instances() {
  static constexpr GroupedFacts facts = {};
  static const Instance table[] = {
      {"groups", "sm90a", 1, &facts, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> attention_instances() {
  static constexpr AttentionConfig facts = {};
  static const Instance table[] = {
      {"attends", "sm90a", 1, &facts, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> block_dequantise_instances() {
  static const Instance table[] = {
      {"unpacks", "sm90a", 1, nullptr, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> block_quantise_instances() {
  static const Instance table[] = {
      {"packs", "sm90a", 1, nullptr, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> block_scaled_instances() {
  static constexpr ProductFacts facts = {};
  static const Instance table[] = {
      {"scaled", "sm90a", 1, &facts, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> pack_weights_instances() {
  static const Instance table[] = {
      {"reorders", "sm90a", 1, nullptr, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> four_bit_instances() {
  static constexpr FourBitFacts facts = {};
  static const Instance table[] = {
      {"four bits", "sm90a", 1, &facts, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> rms_norm_instances() {
  static const Instance table[] = {
      {"normalises", "sm90a", 1, nullptr, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> rotary_instances() {
  static const Instance table[] = {
      {"rotates", "sm90a", 1, nullptr, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> route_instances() {
  static const Instance table[] = {
      {"routes", "sm90a", 1, nullptr, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> combine_instances() {
  static const Instance table[] = {
      {"combines", "sm90a", 1, nullptr, take, takes, asks, starts, nullptr}};
  return table;
}

std::span<const Instance> quantise_instances() {
  static const Instance table[] = {
      {"quantises", "sm90a", 1, nullptr, take, takes, asks, starts, nullptr}};
  return table;
}

}  // namespace tw
