// The launch of activations by weights of four bits: a product's, with packed weights in place of
// an operand.
#pragma once

#include <cmath>

#include "tilewright/family/four_bit/family.h"
#include "tilewright/family/four_bit/kernel.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/product.h"

namespace tw {

// The facts that a launch asks of a compiled kernel.
struct FourBitFacts {
  ProductFacts product;
  PackedWeights weights;
  bool in_groups;  // rows of A come so
  bool is_scaled;  // A has scales of 128 of k
  bool gathers;    // rows of A, by an index that may be there
};

struct FourBitLaunch {
  using Family = FourBitFamily;
  using Problem = Family::Problem;

  template <class Kernel>
  static constexpr PackedWeights weights_of =
      Kernel::Recipe::template weights<Kernel::config.tiling>;
  template <class Kernel>
  static constexpr bool is_scaled = Kernel::config.promote_every != 0;
  template <class Kernel>
  static constexpr FourBitFacts facts = {facts_of<Kernel>, weights_of<Kernel>,
                                         is_grouped<typename Kernel::Recipe>, is_scaled<Kernel>,
                                         Kernel::Recipe::gathers};

  // Weights as the product counts them: of the activations' type, along k.
  template <class Kernel>
  static MatmulProblem product(const Checked& checked) {
    MatmulProblem product = checked.product();
    const Problem& problem = checked.as<Problem>();
    product.b.type = product.a.type;
    product.b.major = Major::K;
    product.b.pitch = PackedWeights::k_blocks(product.k) * PackedWeights::k;
    product.batch = problem.batch;
    product.b_is_constant = problem.weights_are_constant != 0;
    product.epilogue.alpha = std::ldexp(product.epilogue.alpha, Family::exponent(problem));
    return product;
  }

  template <class Kernel>
  static Status supports(const KernelProblem& problem, const LaunchOrder& order) {
    const Problem& given = problem.checked.as<Problem>();
    constexpr PackedWeights own = weights_of<Kernel>;
    if (static_cast<WeightFormat>(given.format) != own.format || given.scale_group != own.group) {
      return Status::refused(
          sentence("The weights are {} with scales of {} of k; this kernel takes {} of {}.",
                   Family::format_words[given.format], given.scale_group,
                   Family::format_words[static_cast<unsigned>(own.format)], own.group));
    }
    if (Family::in_groups(given) != is_grouped<typename Kernel::Recipe>) {
      return Status::refused(Family::in_groups(given)
                                 ? "The rows come in groups; this kernel takes no groups."
                                 : "This kernel takes rows in groups, but the problem has none.");
    }
    if (Family::is_gathered(given) && !Kernel::Recipe::gathers) {
      return Status::refused("This kernel takes rows of A as they lie: no row index.");
    }
    if (Family::is_scaled(given) != is_scaled<Kernel>) {
      return Status::refused(Family::is_scaled(given)
                                 ? "A has scales of 128 of k; this kernel takes none."
                                 : "This kernel takes scales of 128 of k, but A has none.");
    }
    const auto address = reinterpret_cast<std::uintptr_t>(given.weights);
    if (address % 16 != 0) {
      return Status::refused(sentence(
          "The weights begin at a multiple of {} bytes, but blocks of them are copied from "
          "multiples of 16.",
          address & (~address + 1)));
    }
    const float alpha = problem.product.epilogue.alpha;
    if (!std::isfinite(alpha) && std::isfinite(given.epilogue.alpha)) {
      return Status::refused(
          sentence("alpha is {} and the weights' exponent {}: 2 to that times "
                   "alpha is no finite number.",
                   given.epilogue.alpha, given.exponent));
    }
    return tw::supports<Kernel>(problem.product, order);
  }

  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const KernelProblem& taken, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    using Loader = typename Kernel::Loader;
    if (Status status = supports<Kernel>(taken, order); !status.is_good()) return status;
    const MatmulProblem& product = taken.product;
    [[maybe_unused]] const Problem& given = taken.checked.as<Problem>();
    if constexpr (is_grouped<typename Kernel::Recipe>) {
      params.schedule.rows = given.rows;
      params.schedule.capacity = static_cast<int>(given.capacity);
    }
    if constexpr (Kernel::Recipe::gathers) {
      params.own.b = detail::view_of(product.b, product, Family::rows_of_a(given));
      params.own.index = given.row_index;
    }
    if constexpr (is_scaled<Kernel>) {
      const TensorLines& lines = taken.checked.tensor(Family::a_scales);
      params.own.b = detail::view_of({lines.data, lines.pitch, lines.batch_pitch, lines.type,
                                      lines.by_rows ? Major::K : Major::MN},
                                     product, product.n);
    }
    return tw::plan<Kernel>(
        params, grid, product, order, max_clusters, workspace, encode,
        [&](typename Loader::Params& loader) {
          // With swap_ab operands have changed places: the kernel's A is the weights.
          constexpr bool are_a = Kernel::config.tiling.swap_ab != 0;
          const std::int64_t features = are_a ? product.m : product.n;
          const void* const weights = are_a ? product.a.data : product.b.data;
          loader.weights = static_cast<const unsigned char*>(weights);
          loader.batch_bytes = weights_of<Kernel>.bytes(features, product.k);
          loader.row_blocks = static_cast<int>(PackedWeights::row_blocks(features));
          loader.k_blocks = static_cast<int>(PackedWeights::k_blocks(product.k));
          if constexpr (!are_a) {
            loader.a = detail::view_of(product.a, product, product.m);
            return Status::good();
          } else {
            if constexpr (Kernel::Recipe::gathers) {
              return Status::good();
            } else {
              return encode(loader.b, detail::operand_box(product, product.b, product.n, product.m,
                                                          Loader::box_b()));
            }
          }
        });
  }
};

}  // namespace tw
