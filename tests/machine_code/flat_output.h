// What the epilogues of both flat kernels share: everything that is done to 32 sums of a thread
// before they are stored, and the staging buffers.
//
// Whoever includes this says before what a staging buffer and a thread's sums are: `rows` of a
// chunk of 64 columns, `group_columns` that a thread works on together, and row_step(pair),
// column_step(pair) from the first of a thread's pairs in them to another.
#pragma once

#include <cmath>
#include <type_traits>

#include "tilewright/epilogue/arguments.h"
#include "tilewright/epilogue/elementary.h"
#include "tilewright/isa/ptx/convert.h"
#include "tilewright/isa/ptx/counter.h"
#include "tilewright/isa/ptx/cp_async.h"
#include "tilewright/isa/ptx/global_memory.h"
#include "tilewright/isa/ptx/matrix.h"
#include "tilewright/isa/ptx/scalar.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma_store.h"

namespace flat {

namespace elementary = tw::elementary;
namespace isa = tw::isa;
using tw::Activation;
using tw::ElementType;
using tw::SharedAddress;

struct Destination {
  tw::TensorMap map;  // (n, m, batch), box of 64 by rows by 1; 32 by rows by 1 with a gate
  std::uint16_t* elements;
  std::int64_t pitch;
  std::int64_t batch_pitch;
  unsigned by_tma;
};

struct Output {
  Destination d;
  int m;
  int n;
  tw::EpilogueArguments epilogue;
};

// The thread's place in its warpgroup, and its staging buffers.
struct Group {
  unsigned thread;
  unsigned barrier;
  bool stores;
  unsigned char (&buffers)[2][rows * 128];
  unsigned next;
};

// Where a thread's 16 pairs of a group of columns stand.
struct Columns {
  int batch;
  int row;  // pair 0's
  int column;
  int first_column;  // the group's
  int m_end;
  int n;
};

__device__ __forceinline__ int row_of(const Columns& at, unsigned pair) {
  return at.row + row_step(pair);
}
__device__ __forceinline__ int column_of(const Columns& at, unsigned pair) {
  return at.column + column_step(pair);
}
// What is outside is not stored, but something must be read for it.
__device__ __forceinline__ int inside(int index, int end) { return index < end ? index : end - 1; }

template <ElementType type>
using Bits = std::conditional_t<type == ElementType::Fp32, float, std::uint16_t>;

template <ElementType type>
__device__ __forceinline__ float read(const Bits<type>* element) {
  if constexpr (type == ElementType::Fp32) return *element;
  if constexpr (type == ElementType::Fp16) return isa::cvt_f32_f16(*element);
  if constexpr (type == ElementType::Bf16) return __uint_as_float(std::uint32_t{*element} << 16);
}

template <ElementType type>
__device__ __forceinline__ void read_two(float& lower, float& upper, const Bits<type>* elements) {
  if constexpr (type == ElementType::Fp32) {
    const float2 two = *reinterpret_cast<const float2*>(elements);
    lower = two.x;
    upper = two.y;
  } else {
    const std::uint32_t two = *reinterpret_cast<const std::uint32_t*>(elements);
    if constexpr (type == ElementType::Fp16) {
      lower = isa::cvt_f32_f16(static_cast<std::uint16_t>(two));
      upper = isa::cvt_f32_f16(static_cast<std::uint16_t>(two >> 16));
    } else {
      lower = __uint_as_float(two << 16);
      upper = __uint_as_float(two & 0xffff0000u);
    }
  }
}

// Where a row begins. In bytes: with elements, the column would be added before the multiplication
// by their size, for each value anew.
template <ElementType type>
__device__ __forceinline__ Bits<type>* line(const void* matrix, std::int64_t batch_pitch,
                                            std::int64_t pitch, int batch, int row) {
  const std::int64_t bytes = (batch * batch_pitch + row * pitch) * sizeof(Bits<type>);
  unsigned char* const first = static_cast<unsigned char*>(const_cast<void*>(matrix));
  return reinterpret_cast<Bits<type>*>(first + bytes);
}

// value += beta * source; with a gate only the lower value of each pair, at half the column.
template <ElementType type, bool gated, bool in_pairs>
__device__ __forceinline__ void add_source(const tw::EpilogueArguments& epilogue, const Columns& at,
                                           float (&value)[32]) {
  const Bits<type>* rows[2];
  TW_UNROLL
  for (unsigned i = 0; i < 2; ++i) {
    rows[i] = line<type>(epilogue.source, epilogue.source_batch_pitch, epilogue.source_pitch,
                         at.batch, inside(row_of(at, i), at.m_end));
  }
  TW_UNROLL
  for (unsigned pair = 0; pair < 16; ++pair) {
    const Bits<type>* const row = rows[pair % 2];
    const int column = column_of(at, pair);
    if (gated) {
      value[2 * pair] += epilogue.beta * read<type>(row + inside(column >> 1, at.n >> 1));
    } else {
      float lower, upper;
      if (in_pairs) {
        read_two<type>(lower, upper, row + column);
      } else {
        lower = read<type>(row + inside(column, at.n));
        upper = read<type>(row + inside(column + 1, at.n));
      }
      value[2 * pair] += epilogue.beta * lower;
      value[2 * pair + 1] += epilogue.beta * upper;
    }
  }
}

template <ElementType type>
__device__ __forceinline__ void add_source(const tw::EpilogueArguments& epilogue, const Columns& at,
                                           float (&value)[32], bool gated) {
  if (gated) return add_source<type, true, false>(epilogue, at, value);
  const auto begin = reinterpret_cast<std::int64_t>(epilogue.source) / tw::bytes_of(type);
  const bool in_pairs = ((begin | epilogue.source_pitch | epilogue.source_batch_pitch) & 1) == 0;
  if (in_pairs && at.first_column + group_columns <= at.n) {
    add_source<type, false, true>(epilogue, at, value);
  } else {
    add_source<type, false, false>(epilogue, at, value);
  }
}

template <ElementType type>
__device__ __forceinline__ void add_column_bias(const void* bias, const Columns& at,
                                                float (&value)[32]) {
  const Bits<type>* const terms = static_cast<const Bits<type>*>(bias);
  const bool aligned = reinterpret_cast<std::uintptr_t>(bias) % (2 * sizeof(Bits<type>)) == 0;
  if (aligned && at.first_column + group_columns <= at.n) {
    TW_UNROLL
    for (unsigned pair = 0; pair < 16; ++pair) {
      float lower, upper;
      read_two<type>(lower, upper, terms + column_of(at, pair));
      value[2 * pair] += lower;
      value[2 * pair + 1] += upper;
    }
    return;
  }
  TW_UNROLL
  for (unsigned pair = 0; pair < 16; ++pair) {
    const int column = column_of(at, pair);
    value[2 * pair] += read<type>(terms + inside(column, at.n));
    value[2 * pair + 1] += read<type>(terms + inside(column + 1, at.n));
  }
}

template <ElementType type>
__device__ __forceinline__ void add_row_bias(const void* bias, const Columns& at,
                                             float (&value)[32]) {
  const Bits<type>* const terms = static_cast<const Bits<type>*>(bias);
  TW_UNROLL
  for (unsigned pair = 0; pair < 16; ++pair) {
    const float term = read<type>(terms + inside(row_of(at, pair), at.m_end));
    value[2 * pair] += term;
    value[2 * pair + 1] += term;
  }
}

template <ElementType type>
__device__ __forceinline__ std::uint32_t packed(float lower, float upper) {
  if constexpr (type == ElementType::Fp16) return isa::cvt_f16x2(lower, upper);
  return isa::cvt_bf16x2(lower, upper);
}

template <ElementType type, bool whole>
__device__ __forceinline__ void store_auxiliary(const tw::EpilogueArguments& epilogue,
                                                const Columns& at, const float (&value)[32]) {
  Bits<type>* rows[2];
  TW_UNROLL
  for (unsigned i = 0; i < 2; ++i) {
    rows[i] = line<type>(epilogue.auxiliary, epilogue.auxiliary_batch_pitch,
                         epilogue.auxiliary_pitch, at.batch, row_of(at, i));
  }
  TW_UNROLL
  for (unsigned pair = 0; pair < 16; ++pair) {
    const bool row_inside = row_of(at, pair) < at.m_end;
    const int column = column_of(at, pair);
    Bits<type>* const to = rows[pair % 2] + column;
    const float lower = value[2 * pair];
    const float upper = value[2 * pair + 1];
    if constexpr (type == ElementType::Fp32) {
      if (whole) {
        if (row_inside) *reinterpret_cast<float2*>(to) = make_float2(lower, upper);
      } else {
        if (row_inside && column < at.n) to[0] = lower;
        if (row_inside && column + 1 < at.n) to[1] = upper;
      }
    } else {
      const std::uint32_t two = packed<type>(lower, upper);
      if (whole) {
        if (row_inside) *reinterpret_cast<std::uint32_t*>(to) = two;
      } else {
        if (row_inside && column < at.n) to[0] = static_cast<std::uint16_t>(two);
        if (row_inside && column + 1 < at.n) to[1] = static_cast<std::uint16_t>(two >> 16);
      }
    }
  }
}

template <ElementType type>
__device__ __forceinline__ void store_auxiliary(const tw::EpilogueArguments& epilogue,
                                                const Columns& at, const float (&value)[32]) {
  const auto begin = reinterpret_cast<std::int64_t>(epilogue.auxiliary) / tw::bytes_of(type);
  const bool in_pairs =
      ((begin | epilogue.auxiliary_pitch | epilogue.auxiliary_batch_pitch) & 1) == 0;
  if (in_pairs && at.first_column + group_columns <= at.n) {
    store_auxiliary<type, true>(epilogue, at, value);
  } else {
    store_auxiliary<type, false>(epilogue, at, value);
  }
}

// Operands may have three types.
#define FLAT_BY_TYPE(TYPE, FUNCTION, ...)     \
  if ((TYPE) == ElementType::Bf16) {          \
    FUNCTION<ElementType::Bf16>(__VA_ARGS__); \
  } else if ((TYPE) == ElementType::Fp16) {   \
    FUNCTION<ElementType::Fp16>(__VA_ARGS__); \
  } else {                                    \
    FUNCTION<ElementType::Fp32>(__VA_ARGS__); \
  }

// With a gate, the lower value of each pair alone.
#define FLAT_ACTIVATE(FORMULA)                         \
  {                                                    \
    TW_UNROLL for (unsigned i = 0; i < 32; i += 2) {   \
      const float x = value[i];                        \
      value[i] = FORMULA;                              \
    }                                                  \
    if (!epilogue.gated) {                             \
      TW_UNROLL for (unsigned i = 1; i < 32; i += 2) { \
        const float x = value[i];                      \
        value[i] = FORMULA;                            \
      }                                                \
    }                                                  \
  }

// Everything but alpha * sum alone.
__device__ __forceinline__ void mix(const tw::EpilogueArguments& epilogue, const Columns& at,
                                    float (&value)[32], std::uint32_t& largest) {
  if (epilogue.row_scale != nullptr) {
    const float* const factors = epilogue.row_scale;
    TW_UNROLL
    for (unsigned pair = 0; pair < 16; ++pair) {
      const float factor = factors[inside(row_of(at, pair), at.m_end)];
      value[2 * pair] *= factor;
      value[2 * pair + 1] *= factor;
    }
  }
  if (epilogue.column_scale != nullptr) {
    const float* const factors = epilogue.column_scale;
    const bool aligned = reinterpret_cast<std::uintptr_t>(factors) % 8 == 0;
    if (aligned && at.first_column + group_columns <= at.n) {
      TW_UNROLL
      for (unsigned pair = 0; pair < 16; ++pair) {
        const float2 two = *reinterpret_cast<const float2*>(factors + column_of(at, pair));
        value[2 * pair] *= two.x;
        value[2 * pair + 1] *= two.y;
      }
    } else {
      TW_UNROLL
      for (unsigned pair = 0; pair < 16; ++pair) {
        const int column = column_of(at, pair);
        value[2 * pair] *= factors[inside(column, at.n)];
        value[2 * pair + 1] *= factors[inside(column + 1, at.n)];
      }
    }
  }
  if (!epilogue.gated && epilogue.source != nullptr && epilogue.beta != 0.0f) {
    FLAT_BY_TYPE(epilogue.source_type, add_source, epilogue, at, value, false)
  }
  if (epilogue.column_bias != nullptr) {
    FLAT_BY_TYPE(epilogue.bias_type, add_column_bias, epilogue.column_bias, at, value)
  }
  if (epilogue.row_bias != nullptr) {
    FLAT_BY_TYPE(epilogue.bias_type, add_row_bias, epilogue.row_bias, at, value)
  }
  if (epilogue.auxiliary != nullptr) {
    FLAT_BY_TYPE(epilogue.auxiliary_type, store_auxiliary, epilogue, at, value)
  }
  switch (epilogue.activation) {
    case Activation::None: break;
    case Activation::Relu: FLAT_ACTIVATE(tw::isa::max_nan(x, 0.0f)) break;
    case Activation::Gelu:
      FLAT_ACTIVATE(fmaf(0.5f * x, elementary::erf(x * 0.70710678118654752f), 0.5f * x)) break;
    case Activation::Silu: FLAT_ACTIVATE(x * elementary::logistic(x)) break;
    case Activation::Tanh: FLAT_ACTIVATE(elementary::tanh(x)) break;
    case Activation::Clamp:
      FLAT_ACTIVATE(x < epilogue.clamp_low    ? epilogue.clamp_low
                    : x > epilogue.clamp_high ? epilogue.clamp_high
                                              : x)
      break;
  }
  if (epilogue.gated) {
    TW_UNROLL
    for (unsigned pair = 0; pair < 16; ++pair) value[2 * pair] *= value[2 * pair + 1];
    if (epilogue.source != nullptr && epilogue.beta != 0.0f) {
      FLAT_BY_TYPE(epilogue.source_type, add_source, epilogue, at, value, true)
    }
  }
  if (epilogue.amax != nullptr) {
    // Bits are ordered like magnitudes. A gated value is inside if the lower one was.
    TW_UNROLL
    for (unsigned pair = 0; pair < 16; ++pair) {
      if (row_of(at, pair) < at.m_end && column_of(at, pair) < at.n) {
        largest = max(largest, __float_as_uint(value[2 * pair]) & 0x7fffffffu);
      }
    }
    if (!epilogue.gated) {
      TW_UNROLL
      for (unsigned pair = 0; pair < 16; ++pair) {
        if (row_of(at, pair) < at.m_end && column_of(at, pair) + 1 < at.n) {
          largest = max(largest, __float_as_uint(value[2 * pair + 1]) & 0x7fffffffu);
        }
      }
    }
  }
  TW_UNROLL
  for (unsigned i = 0; i < 32; ++i) value[i] *= epilogue.output_scale;
}

// The next buffer, free to be written.
__device__ __forceinline__ unsigned char* open(Group& group) {
  if (group.stores) isa::cp_async_bulk_wait_group_read<1>();
  isa::barrier_sync(group.barrier, 128);
  unsigned char* const buffer = group.buffers[group.next];
  group.next = group.next + 1 == 2 ? 0 : group.next + 1;
  return buffer;
}

// The chunk begins at (row, column) of an output with n columns.
__device__ __forceinline__ void close(const Output& params, const Group& group,
                                      const unsigned char* buffer, int batch, int row, int column,
                                      int m_end, int n, int columns) {
  isa::fence_proxy_async();
  isa::barrier_sync(group.barrier, 128);
  const bool over_rows = m_end != params.m && row + rows > m_end;
  // TMA writes whole groups of 16 bytes: it would run over an edge inside one.
  const bool over_columns = n % 8 != 0 && column + columns > n;
  if (!params.d.by_tma || over_rows || over_columns) {
    const std::uint16_t* const staged = reinterpret_cast<const std::uint16_t*>(buffer);
    std::uint16_t* const d = params.d.elements + batch * params.d.batch_pitch;
    TW_ROLL
    for (unsigned step = 0; step < rows / 2; ++step) {
      const unsigned i = step * 128 + group.thread;
      const unsigned chunk_row = i / 64;
      const unsigned chunk_column = i % 64;
      const int to_row = row + static_cast<int>(chunk_row);
      const int to_column = column + static_cast<int>(chunk_column);
      if (to_row >= m_end || to_column >= n || static_cast<int>(chunk_column) >= columns) continue;
      const unsigned piece = (chunk_column / 8) ^ (chunk_row % 8);
      d[to_row * params.d.pitch + to_column] =
          staged[chunk_row * 64 + piece * 8 + chunk_column % 8];
    }
  } else if (group.stores) {
    const int corner[3] = {column, row, batch};
    isa::cp_async_bulk_tensor_store(&params.d.map, isa::shared_address(buffer), corner);
  }
  if (group.stores) isa::cp_async_bulk_commit_group();
}

// The biases of a tile of 256 columns, ahead of its sums.
__device__ __forceinline__ void prefetch_bias(const Output& params, int column, unsigned thread) {
  const tw::EpilogueArguments& epilogue = params.epilogue;
  if (epilogue.column_bias == nullptr) return;
  const int bytes = static_cast<int>(tw::bytes_of(epilogue.bias_type));
  const int at = static_cast<int>(thread * 128);
  if (at < min(256, params.n - column) * bytes) {
    isa::prefetch_global(static_cast<const char*>(epilogue.column_bias) + column * bytes + at);
  }
}

// alpha * sum, and nothing else.
__device__ __forceinline__ bool is_plain(const tw::EpilogueArguments& epilogue) {
  const auto bits = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  return (bits(epilogue.source) | bits(epilogue.column_bias) | bits(epilogue.row_bias) |
          bits(epilogue.column_scale) | bits(epilogue.row_scale) | bits(epilogue.auxiliary) |
          bits(epilogue.amax)) == 0 &&
         epilogue.activation == Activation::None && !epilogue.gated &&
         epilogue.output_scale == 1.0f;
}

// The largest of a warp.
__device__ __forceinline__ void raise_amax(const tw::EpilogueArguments& epilogue,
                                           std::uint32_t largest, unsigned lane) {
  if (epilogue.amax == nullptr) return;
  TW_UNROLL
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    largest = max(largest, isa::shuffle(largest, lane ^ distance));
  }
  if (lane == 0) isa::global_atomic_max_float_bits(epilogue.amax, largest);
}

}  // namespace flat
