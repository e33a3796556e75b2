// A product of elements with block scales, as a caller states it, and what it must satisfy.
#pragma once

#include <string>

#include "tilewright/host/matmul_check.h"
#include "tilewright/host/scale_blocks.h"

namespace tw {

// Elements of fewer than 8 bits are packed: element i of a line takes its bits [i w, (i + 1) w),
// read as one little-endian number. Pitches count elements. The scales of A's rows and of B's are
// blocks (host/scale_blocks.h), one matrix of the batch after the other.
struct BlockScaledProblem {
  MatmulProblem matmul;
  const void* a_scales = nullptr;
  const void* b_scales = nullptr;
  ScaleType scale_type = ScaleType::Ue8m0;
};

// Whether an element gets a byte of its own in shared memory, although it has fewer than 8 bits.
constexpr bool is_unpacked(const MatmulProblem& problem, const MatmulOperand& operand) {
  const bool both_e2m1 = problem.a.type == ElementType::E2m1 && problem.b.type == ElementType::E2m1;
  return bits_in(operand.type) < 8 && !both_e2m1;
}

namespace detail {

inline Status check_blocks_of(const std::string& name, const MatmulProblem& problem,
                              const MatmulOperand& given, const void* scales, ScaleType type) {
  const unsigned bits = bits_in(given.type);
  if (bits > 8 || is_integer(given.type)) {
    return Status::refused(name + " has type " + name_of(given.type) +
                           "; elements with block scales are e4m3, e5m2, e2m3, e3m2 or e2m1.");
  }
  if (type == ScaleType::Ue4m3 && given.type != ElementType::E2m1) {
    return Status::refused(name + " has type " + name_of(given.type) +
                           "; scales of ue4m3 are for e2m1 times e2m1.");
  }
  if (bits < 8 && given.major != Major::K) {
    return Status::refused(name + " is MN-major; elements of " + std::to_string(bits) +
                           " bits must be K-major.");
  }
  const bool unpacks = is_unpacked(problem, given);
  const unsigned least = unpacks ? 32 : 16;
  const std::int64_t pitches[] = {given.pitch, problem.batch > 1 ? given.batch_pitch : 0};
  for (const std::int64_t pitch : pitches) {
    if (pitch * bits % (8 * least) != 0 ||
        reinterpret_cast<std::uintptr_t>(given.data) % least != 0) {
      return Status::refused("The lines of " + name + " (pitch " + std::to_string(pitch) +
                             " elements of " + std::to_string(bits) +
                             " bits) must begin at multiples of " + std::to_string(least) +
                             " bytes.");
    }
  }
  if (unpacks && problem.k % 128 != 0) {
    return Status::refused("k is " + std::to_string(problem.k) + ", but " + name_of(given.type) +
                           " times another type needs a multiple of 128.");
  }
  if (scales == nullptr) return Status::refused("The address of " + name + "'s scales is null.");
  if (reinterpret_cast<std::uintptr_t>(scales) % 16 != 0) {
    return Status::refused("The scales of " + name + " must begin at a multiple of 16 bytes.");
  }
  return Status::good();
}

}  // namespace detail

inline Status check(const BlockScaledProblem& problem) {
  const MatmulProblem& matmul = problem.matmul;
  if (Status status = check(matmul); !status.is_good()) return status;
  if (matmul.m == 0 || matmul.n == 0 || matmul.k == 0 || matmul.batch == 0) return Status::good();
  Status a = detail::check_blocks_of("A", matmul, matmul.a, problem.a_scales, problem.scale_type);
  if (!a.is_good()) return a;
  Status b = detail::check_blocks_of("B", matmul, matmul.b, problem.b_scales, problem.scale_type);
  if (!b.is_good()) return b;
  if (matmul.k % 2 != 0 && (bits_in(matmul.a.type) < 8 || bits_in(matmul.b.type) < 8)) {
    return Status::refused("k is " + std::to_string(matmul.k) +
                           ", but packed elements come in pairs: an even k.");
  }
  return Status::good();
}

}  // namespace tw
