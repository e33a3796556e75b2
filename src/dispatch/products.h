// Which compiled kernel of a described family computes a product.
#pragma once

#include "src/dispatch/choose_launch.h"
#include "src/instances/instance.h"

namespace tw {

inline KernelFacts kernel_facts(const Instance& instance) {
  const ProductFacts& facts = product_facts(instance);
  return {.target = instance.target,
          .config = facts.config,
          .any_alignment = facts.any_alignment,
          .by_threads = facts.by_threads,
          .scales_sums = facts.b_scale_rows > 0 && facts.config.promote_every > 0,
          .by_warps = facts.stages == 0,
          .capability_end = instance.capability_end,
          .efficiency = instance.efficiency};
}

inline MatmulProblem whole_product(const Checked& problem) { return problem.product(); }

// A Family for choose_launch. `priced` is the product whose cost is asked for.
template <std::span<const Instance> (*all)(),
          MatmulProblem (*priced)(const Checked&) = whole_product>
struct DescribedProducts : UsualChoice {
  static auto instances() { return all(); }
  static KernelFacts facts(const Instance& instance) { return kernel_facts(instance); }
  static MatmulProblem matmul(const Instance&, const Checked& problem) { return priced(problem); }
  static double operand_bytes(const Checked&) { return 0; }
  static std::string call(const Checked& problem) { return call_of(problem); }
  static const char* does(const Checked& problem) { return problem.description().does; }
};

}  // namespace tw
