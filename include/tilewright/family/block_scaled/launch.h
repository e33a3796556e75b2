// The launch of a product of elements with block scales: the matmul's plan with maps of packed
// operands and of scales, or with what converts them.
#pragma once

#include <limits>

#include "tilewright/family/block_scaled/family.h"
#include "tilewright/family/block_scaled/kernel.h"
#include "tilewright/launch/as_read.h"
#include "tilewright/launch/product.h"

namespace tw {

// The facts that a launch asks of a compiled kernel.
struct BlockScaledFacts {
  ProductFacts product;
  bool quantises;    // D, with scales of its own
  bool converts;     // elements of any type, with any scales
  ScaleType scales;  // that it multiplies with, where it does not convert
};

class BlockScaledLaunch {
 public:
  using Family = BlockScaledFamily;
  using Problem = Family::Problem;

  template <class Parts>
  static constexpr bool converts = requires(typename Parts::Loader::Params params) {
    params.a_scaled;
  };
  template <class Parts>
  static constexpr ScaleType scales_of = [] {
    if constexpr (!converts<Parts>) return Parts::Scales::type;
    return ScaleType::Ue8m0;
  }();
  template <class Parts>
  static constexpr bool quantises =
      requires(typename kernel::WarpSpecialized<Parts>::Params params) {
    params.epilogue.epilogue.scales.extent;
  };
  template <class Parts>
  static constexpr BlockScaledFacts facts = {facts_of<Parts>, quantises<Parts>, converts<Parts>,
                                             scales_of<Parts>};

  static MatmulProblem product(const Checked& checked) { return checked.product(); }

  // The matmul and its scales, as kernels see them.
  struct Operands {
    Operands(const MatmulProblem& product, ScaleType type, const void* a_scales,
             const void* b_scales)
        : matmul(product),
          type(type),
          a_extent(ScaleExtent::of(matmul.m, matmul.k, type)),
          b_extent(ScaleExtent::of(matmul.n, matmul.k, type)),
          a_scales(a_scales),
          b_scales(b_scales) {
      // The pitch of a single line is free.
      const auto lay = [&](MatmulOperand& operand, std::int64_t rows) {
        if (rows == 1 && operand.major == Major::K) operand.pitch = (matmul.k + 127) / 128 * 128;
      };
      lay(matmul.a, matmul.m);
      lay(matmul.b, matmul.n);
    }
    // Whether an element gets a byte of its own in shared memory, although it has fewer than 8
    // bits.
    bool is_unpacked(const MatmulOperand& operand) const {
      const bool packed = matmul.a.type == ElementType::E2m1 && matmul.b.type == ElementType::E2m1;
      return bits_in(operand.type) < 8 && !packed;
    }
    // Calls function(name, operand, scales) for A and B, until one is refused.
    template <class Function>
    Status each(const Function& function) const {
      Status status = function("A", matmul.a, a_scales);
      return status.is_good() ? function("B", matmul.b, b_scales) : status;
    }

    MatmulProblem matmul;
    ScaleType type;
    ScaleExtent a_extent, b_extent;
    const void *a_scales, *b_scales;
    bool shares_a = false;  // all matrices of the batch have one A, whose scales are there once
  };

  template <class Parts, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
                     const Checked& checked, const MatmulOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    ProductFacts wanted = facts_of<Parts>;
    wanted.any_layout = false;  // what is K-major and MN-major at once is read K-major
    const Operands given(as_read(checked, wanted), Family::scale_type(checked.as<Problem>()),
                         checked.tensor(Family::a_scales).data,
                         checked.tensor(Family::b_scales).data);
    if constexpr (quantises<Parts>) {
      params.epilogue.epilogue.scales = {
          static_cast<std::uint8_t*>(checked.tensor(Family::d_scales).data),
          Family::d_scale_extent(checked.as<Problem>())};
    }
    const Status planned =
        plan_operands<Parts>(params, grid, given, order, max_clusters, workspace, encode);
    // Tiles begin with whole blocks of scales.
    if (quantises<Parts>) {
      detail::tile_map(params.schedule).last_column = std::numeric_limits<int>::max();
    }
    return planned;
  }

  template <class Parts, class Encode>
  static Status plan_operands(typename kernel::WarpSpecialized<Parts>::Params& params,
                              MatmulGrid& grid, const Operands& given, const MatmulOrder& order,
                              unsigned max_clusters, const Workspace& workspace,
                              const Encode& encode) {
    MatmulProblem converted = given.matmul;
    if (converts<Parts>) converted.a.type = converted.b.type = ElementType::Bf16;
    Status found = check_types(converted, Parts::config);
    found.add(takes_packed(given));
    if (!detail::reads_any_major<typename Parts::Loader>) {
      found.add(check_majors(converted, Parts::config));
    }
    if constexpr (!converts<Parts>) found.add(takes_scales<Parts>(given));
    if (!found.is_good()) return found;
    if constexpr (converts<Parts>) {
      return tw::plan<Parts>(params, grid, converted, order, max_clusters, workspace, encode,
                             [&](typename Parts::Loader::Params& loader) {
                               fill_conversion(loader, given);
                               return Status::good();
                             });
    } else if constexpr (requires { params.own.a.row_blocks; }) {
      Status status =
          given.each([&](const char* name, const MatmulOperand& operand, const void* scales) {
            Status lines = takes_lines(name, operand, given.matmul, 1);
            return lines.is_good() ? takes_address(name, scales) : lines;
          });
      if (!status.is_good()) return status;
      const auto blocks = [](const void* scales, const ScaleExtent& extent) {
        return decltype(params.own.a){static_cast<const std::uint8_t*>(scales),
                                      static_cast<int>(extent.row_blocks()),
                                      static_cast<int>(extent.k_blocks())};
      };
      params.own = {blocks(given.a_scales, given.a_extent), blocks(given.b_scales, given.b_extent)};
      return tw::plan<Parts>(params, grid, given.matmul, order, max_clusters, workspace, encode);
    } else {
      if (Status status = takes(given); !status.is_good()) return status;
      Status planned =
          tw::plan<Parts>(params, grid, given.matmul, order, max_clusters, workspace, encode,
                          [&](typename Parts::Loader::Params& loader) {
                            return fill_maps<typename Parts::Loader>(loader, given, encode);
                          });
      // Tiles begin where blocks of scales do: the last rows are not reached back for.
      detail::tile_map(params.schedule).last_row = std::numeric_limits<int>::max();
      return planned;
    }
  }

 private:
  static Status takes_packed(const Operands& given) {
    return given.each([](const char* name, const MatmulOperand& operand, const void*) {
      if (bits_in(operand.type) == 8 || operand.major == Major::K) return Status::good();
      return Status::refused(sentence("{} is MN-major; elements of {} bits must be K-major.", name,
                                      bits_in(operand.type)));
    });
  }

  template <class Parts>
  static Status takes_scales(const Operands& given) {
    if (Parts::Scales::type == given.type) return Status::good();
    return Status::refused(sentence("The scales are {}; this kernel multiplies with {}.",
                                    name_of(given.type), name_of(Parts::Scales::type)));
  }
  static Status takes_lines(const char* name, const MatmulOperand& operand,
                            const MatmulProblem& matmul, unsigned least) {
    const unsigned bits = bits_in(operand.type);
    for (const std::int64_t pitch : {operand.pitch, matmul.batch > 1 ? operand.batch_pitch : 0}) {
      if (pitch * bits % (8 * least) == 0 &&
          reinterpret_cast<std::uintptr_t>(operand.data) % least == 0) {
        continue;
      }
      return Status::refused(
          sentence("The lines of {} (pitch {} elements of {} bits) must begin at multiples of {} "
                   "bytes for this kernel.",
                   name, pitch, bits, least));
    }
    return Status::good();
  }
  static Status takes_address(const char* name, const void* scales) {
    if (reinterpret_cast<std::uintptr_t>(scales) % 16 == 0) return Status::good();
    return Status::refused(
        sentence("The scales of {} must begin at a multiple of 16 bytes for this kernel.", name));
  }

  // TMA and the tensor core ask this of elements and scales.
  static Status takes(const Operands& given) {
    const MatmulProblem& matmul = given.matmul;
    if (matmul.k == 0) return Status::good();
    if (matmul.k % 2 != 0 && bits_in(matmul.a.type) < 8 && bits_in(matmul.b.type) < 8) {
      return Status::refused(sentence(
          "k is {}, but this kernel takes packed elements in pairs: an even k.", matmul.k));
    }
    return given.each([&](const char* name, const MatmulOperand& operand, const void* scales) {
      const bool unpacks = given.is_unpacked(operand);
      Status lines = takes_lines(name, operand, matmul, unpacks ? 32 : 16);
      if (!lines.is_good()) return lines;
      if (unpacks && matmul.k % 128 != 0) {
        return Status::refused(
            sentence("k is {}, but this kernel multiplies {} with another type, which needs a "
                     "multiple of 128.",
                     matmul.k, name_of(operand.type)));
      }
      return takes_address(name, scales);
    });
  }

  template <class Params>
  static void fill_conversion(Params& params, const Operands& given) {
    const MatmulProblem& matmul = given.matmul;
    params.a = detail::view_of(matmul.a, matmul, matmul.m);
    params.b = detail::view_of(matmul.b, matmul, matmul.n);
    params.a_scaled = {CodeFormat::of(matmul.a.type),
                       static_cast<const std::uint8_t*>(given.a_scales), given.a_extent};
    params.b_scaled = {CodeFormat::of(matmul.b.type),
                       static_cast<const std::uint8_t*>(given.b_scales), given.b_extent};
    params.scale_type = given.type;
  }

  template <class Loader, class Encode>
  static Status fill_maps(typename Loader::Params& params, Operands given, const Encode& encode) {
    MatmulProblem& matmul = given.matmul;
    Status status = detail::fill_loader<Loader>(params, in_bytes(given), encode);
    if (!status.is_good()) return status;
    // Nothing is loaded where k is 0; the maps must still be valid, so they show D.
    if (matmul.k == 0) {
      const auto d = reinterpret_cast<std::uintptr_t>(matmul.d.data);
      given.a_scales = given.b_scales = reinterpret_cast<const void*>(d / 16 * 16);
      given.a_extent = given.b_extent = ScaleExtent::of(1, 128, given.type);
      matmul.batch = 1;
    }
    params.a_row_blocks = given.shares_a ? 0 : static_cast<int>(given.a_extent.row_blocks());
    params.b_row_blocks = static_cast<int>(given.b_extent.row_blocks());
    status =
        encode(params.a_scales, scales_box(given.a_scales, given.a_extent,
                                           given.shares_a ? 1 : matmul.batch, Loader::scale_box()));
    if (!status.is_good()) return status;
    return encode(params.b_scales,
                  scales_box(given.b_scales, given.b_extent, matmul.batch, Loader::scale_box()));
  }

  // The operands as TMA takes them: two e2m1 of a line are a byte of it where both operands are
  // e2m1; else it unpacks what has fewer than 8 bits, and only lines are counted in bytes.
  static MatmulProblem in_bytes(const Operands& given) {
    MatmulProblem matmul = given.matmul;
    for (MatmulOperand* const operand : {&matmul.a, &matmul.b}) {
      const std::int64_t bits = bits_in(operand->type);
      operand->pitch = operand->pitch * bits / 8;
      operand->batch_pitch = operand->batch_pitch * bits / 8;
      if (!given.is_unpacked(*operand) || matmul.k == 0) operand->type = ElementType::E4m3;
    }
    const MatmulOperand& a = given.matmul.a;
    if (bits_in(a.type) < 8 && !given.is_unpacked(a)) matmul.k /= 2;
    return matmul;
  }
  static MatrixBox scales_box(const void* scales, const ScaleExtent& extent, std::int64_t batch,
                              TmaBox box) {
    constexpr std::int64_t bytes = ScaleBlock::bytes;
    return {.base = scales,
            .type = ElementType::Bf16,  // pairs of scales: a box has at most 256 elements in a line
            .inner = bytes / 2,
            .outer = extent.k_blocks(),
            .batch = extent.row_blocks() * batch,
            .pitch_bytes = bytes,
            .batch_pitch_bytes = bytes * extent.k_blocks(),
            .box_inner = box.inner,
            .box_outer = box.outer,
            .swizzle = BoxSwizzle::None};
  }
};

}  // namespace tw
