// The operands of a product with block scales, and what kernels ask of them.
#pragma once

#include "tilewright/base/status.h"
#include "tilewright/launch/description.h"
#include "tilewright/launch/matmul_problem.h"
#include "tilewright/number/scale_blocks.h"

namespace tw {

// The matmul and its scales, as kernels see them.
struct BlockScaledOperands {
  BlockScaledOperands(const MatmulProblem& product, ScaleType type, const void* a_scales,
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

  Status are_packed_along_k() const {
    return each([](const char* name, const MatmulOperand& operand, const void*) {
      if (bits_in(operand.type) == 8 || operand.major == Major::K) return Status::good();
      return Status::refused(sentence("{} is MN-major; elements of {} bits must be K-major.", name,
                                      bits_in(operand.type)));
    });
  }

  Status are_scaled_by(ScaleType kernel_type) const {
    if (kernel_type == type) return Status::good();
    return Status::refused(sentence("The scales are {}; this kernel multiplies with {}.",
                                    name_of(type), name_of(kernel_type)));
  }
  // Waves ask this of them.
  Status suit_waves() const {
    return each([&](const char* name, const MatmulOperand& operand, const void* scales) {
      Status lines = takes_lines(name, operand, 1);
      return lines.is_good() ? takes_address(name, scales) : lines;
    });
  }
  // TMA and the tensor core ask this of elements and scales.
  Status suit_tma() const {
    if (matmul.k == 0) return Status::good();
    if (matmul.k % 2 != 0 && bits_in(matmul.a.type) < 8 && bits_in(matmul.b.type) < 8) {
      return Status::refused(sentence(
          "k is {}, but this kernel takes packed elements in pairs: an even k.", matmul.k));
    }
    return each([&](const char* name, const MatmulOperand& operand, const void* scales) {
      const bool unpacks = is_unpacked(operand);
      Status lines = takes_lines(name, operand, unpacks ? 32 : 16);
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

  // The operands as TMA takes them: two e2m1 of a line are a byte of it where both operands are
  // e2m1; else it unpacks what has fewer than 8 bits, and only lines are counted in bytes.
  MatmulProblem in_bytes() const {
    MatmulProblem bytes = matmul;
    for (MatmulOperand* const operand : {&bytes.a, &bytes.b}) {
      const std::int64_t bits = bits_in(operand->type);
      operand->pitch = operand->pitch * bits / 8;
      operand->batch_pitch = operand->batch_pitch * bits / 8;
      if (!is_unpacked(*operand) || matmul.k == 0) operand->type = ElementType::E4m3;
    }
    if (bits_in(matmul.a.type) < 8 && !is_unpacked(matmul.a)) bytes.k /= 2;
    return bytes;
  }

  MatmulProblem matmul;
  ScaleType type;
  ScaleExtent a_extent, b_extent;
  const void *a_scales, *b_scales;
  bool shares_a = false;  // all matrices of the batch have one A, whose scales are there once

 private:
  // Calls function(name, operand, scales) for A and B, until one is refused.
  template <class Function>
  Status each(const Function& function) const {
    Status status = function("A", matmul.a, a_scales);
    return status.is_good() ? function("B", matmul.b, b_scales) : status;
  }
  Status takes_lines(const char* name, const MatmulOperand& operand, unsigned least) const {
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
};

}  // namespace tw
