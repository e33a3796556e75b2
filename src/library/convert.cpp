#include "src/library/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/library/failure.h"
#include "tilewright/host/matmul_check.h"

namespace tw::library {

namespace {

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Failure{TW_INVALID, fmt::format(format, std::forward<Arguments>(arguments)...)};
}

}  // namespace

ElementType type_of(const char* name, tw_type type) {
  static_assert(TW_S32 == static_cast<tw_type>(ElementType::S32));
  const auto number = static_cast<unsigned>(type);
  if (number > TW_S32) {
    refuse("The type of {} is {}, but a tw_type is between 0 and {}.", name,
           static_cast<int>(number), static_cast<int>(TW_S32));
  }
  return static_cast<ElementType>(number);
}

void check_size(const char* name, const void* given, std::size_t size, std::size_t expected,
                const char* initialiser) {
  if (given == nullptr) refuse("The {} is null.", name);
  if (size != expected) {
    refuse("The size of the {} is {}, but this library's has {} bytes: {} sets it.", name, size,
           expected, initialiser);
  }
}

void check_span(const char* name, std::int64_t lines, std::int64_t pitch, std::int64_t batch,
                std::int64_t batch_pitch) {
  const double span = static_cast<double>(lines) * static_cast<double>(pitch) +
                      static_cast<double>(batch) * static_cast<double>(batch_pitch);
  if (span > 0x1p58) {
    refuse("{} spans {:.0f} elements, but at most 2^58 are addressed.", name, span);
  }
}

namespace {

Activation activation_of(tw_activation activation) {
  static_assert(TW_CLAMP == static_cast<tw_activation>(Activation::Clamp));
  const auto number = static_cast<unsigned>(activation);
  if (number > TW_CLAMP) {
    refuse("The activation is {}, but a tw_activation is between 0 and {}.",
           static_cast<int>(number), static_cast<int>(TW_CLAMP));
  }
  return static_cast<Activation>(number);
}

// A pitch for what has one line only, so that it spoils no alignment.
std::int64_t pitch_of_one_line(std::int64_t length) {
  return (std::max<std::int64_t>(length, 1) + 15) / 16 * 16;
}

MatmulOperand operand_of(const tw_matrix& given, const OperandStrides& strides, Major major,
                         ElementType type) {
  const bool by_k = major == Major::K;
  const std::int64_t lines = by_k ? strides.rows : strides.k;
  const std::int64_t length = by_k ? strides.k : strides.rows;
  return {given.data,
          lines > 1 ? (by_k ? strides.row_stride : strides.k_stride) : pitch_of_one_line(length),
          strides.batch > 1 ? given.batch_stride : 0, type, major};
}

}  // namespace

void take_operand(MatmulOperand& usual, std::optional<MatmulOperand>& other, const char* name,
                  const tw_matrix& given, const OperandStrides& strides) {
  const ElementType type = type_of(name, given.type);
  const bool empty = strides.rows < 1 || strides.k < 1;
  const bool by_k = empty || strides.k == 1 || strides.k_stride == 1;
  const bool by_rows = empty || strides.rows == 1 || strides.row_stride == 1;
  if (!by_k && !by_rows) {
    refuse("{} has a row_stride of {} and a column_stride of {}, but one of them must be 1.", name,
           given.row_stride, given.column_stride);
  }
  usual = operand_of(given, strides, by_k ? Major::K : Major::MN, type);
  if (by_k && by_rows) {
    other = operand_of(given, strides, Major::MN, type);
    const auto alignment = [&](const MatmulOperand& operand) {
      return alignment_of(operand.data, operand.pitch, strides.batch, operand.batch_pitch, type);
    };
    if (alignment(*other) > alignment(usual)) std::swap(usual, *other);
  }
  const std::int64_t lines = usual.major == Major::K ? strides.rows : strides.k;
  check_span(name, lines, usual.pitch, strides.batch, usual.batch_pitch);
}

namespace {

// Of a matrix whose rows are lines of memory.
std::int64_t pitch_by_rows(const char* name, const tw_matrix& given, std::int64_t rows,
                           std::int64_t columns, std::int64_t batch) {
  if (rows < 1 || columns < 1) return pitch_of_one_line(columns);
  if (columns > 1 && given.column_stride != 1) {
    refuse("{} has a column_stride of {}, but must have 1: its rows are contiguous.", name,
           given.column_stride);
  }
  const std::int64_t pitch = rows > 1 ? given.row_stride : pitch_of_one_line(columns);
  check_span(name, rows, pitch, batch, batch > 1 ? given.batch_stride : 0);
  return pitch;
}

template <class T>
const T* aligned(const char* name, const T* address, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
    refuse("The address of {} is not a multiple of {} bytes, its element's size.", name, bytes);
  }
  return address;
}

}  // namespace

EpilogueArguments epilogue_of(const tw_epilogue& given, std::int64_t m, std::int64_t n,
                              std::int64_t batch) {
  EpilogueArguments epilogue;
  epilogue.alpha = given.alpha;
  epilogue.beta = given.beta;
  epilogue.output_scale = given.output_scale;
  epilogue.clamp_low = given.clamp_low;
  epilogue.clamp_high = given.clamp_high;
  epilogue.activation = activation_of(given.activation);
  epilogue.gated = given.gated != 0;
  if (given.activation == TW_CLAMP && !(given.clamp_low <= given.clamp_high)) {
    refuse("clamp_low is {}, but must not exceed clamp_high, {}.", given.clamp_low,
           given.clamp_high);
  }
  // A scale of zero means that the source is not read.
  if (given.source.data != nullptr && given.beta != 0.0f) {
    epilogue.source = given.source.data;
    epilogue.source_type = type_of("the source", given.source.type);
    epilogue.source_pitch =
        pitch_by_rows("The source", given.source, m, epilogue.gated ? n / 2 : n, batch);
    epilogue.source_batch_pitch = batch > 1 ? given.source.batch_stride : 0;
  }
  if (given.auxiliary.data != nullptr) {
    epilogue.auxiliary = given.auxiliary.data;
    epilogue.auxiliary_type = type_of("the auxiliary output", given.auxiliary.type);
    epilogue.auxiliary_pitch = pitch_by_rows("The auxiliary output", given.auxiliary, m, n, batch);
    epilogue.auxiliary_batch_pitch = batch > 1 ? given.auxiliary.batch_stride : 0;
  }
  if (given.column_bias != nullptr || given.row_bias != nullptr) {
    epilogue.bias_type = type_of("the bias", given.bias_type);
    const std::size_t bytes = bytes_of(epilogue.bias_type);
    epilogue.column_bias = aligned("the column bias", given.column_bias, bytes);
    epilogue.row_bias = aligned("the row bias", given.row_bias, bytes);
  }
  epilogue.column_scale = aligned("the column scale", given.column_scale, sizeof(float));
  epilogue.row_scale = aligned("the row scale", given.row_scale, sizeof(float));
  // The kernels raise its bits.
  aligned("amax", given.amax, sizeof(float));
  epilogue.amax = reinterpret_cast<std::uint32_t*>(given.amax);
  return epilogue;
}

ConvertedProblem convert(const tw_matmul_problem* given) {
  check_struct("problem", given, "tw_matmul_init");
  const std::int64_t m = given->m, n = given->n, k = given->k, batch = given->batch;
  ConvertedProblem converted;
  MatmulProblem& problem = converted.problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.batch = batch;
  // Extents first: spans and pitches are computed from them.
  if (Status status = detail::check_extents(problem); !status.is_good()) {
    refuse("{}", status.sentence());
  }
  take_operand(problem.a, converted.other_a, "A", given->a,
               {m, k, batch, given->a.row_stride, given->a.column_stride});
  // The kernels' B is n by k.
  take_operand(problem.b, converted.other_b, "B", given->b,
               {n, k, batch, given->b.column_stride, given->b.row_stride});
  const std::int64_t columns = given->epilogue.gated != 0 ? n / 2 : n;
  problem.d = {given->d.data, pitch_by_rows("D", given->d, m, columns, batch),
               batch > 1 ? given->d.batch_stride : 0, type_of("D", given->d.type)};
  problem.epilogue = epilogue_of(given->epilogue, m, n, batch);
  if (Status status = check(problem); !status.is_good()) refuse("{}", status.sentence());
  return converted;
}

MatmulProblem along_k(const ConvertedProblem& converted) {
  MatmulProblem problem = converted.problem;
  if (problem.a.major == Major::MN && converted.other_a) problem.a = *converted.other_a;
  if (problem.b.major == Major::MN && converted.other_b) problem.b = *converted.other_b;
  return problem;
}

tw_matmul_options checked_options(const tw_matmul_options* options) {
  tw_matmul_options usual;
  tw_matmul_init(nullptr, &usual);
  if (options == nullptr) return usual;
  check_struct("options", options, "tw_matmul_init");
  return *options;
}

}  // namespace tw::library
