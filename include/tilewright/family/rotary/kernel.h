// Rotary embedding, and keys and values stored into a cache. A CTA takes one token at a time. A
// thread has the same 8 complex numbers of several heads, whose cosines and sines it loads once.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/bind/streamed.h"
#include "tilewright/epilogue/element.h"

namespace tw {

// The configuration of an instance.
struct RotaryConfig {
  bool dependent_launch = false;
  Tracing tracing = Tracing::Off;
};

class RotaryStream : public UsualStream {
 public:
  static constexpr unsigned threads = 256, least_ctas = 2;
  static constexpr unsigned length = 8;  // complex numbers of a thread
  static constexpr unsigned pieces = 2;  // heads that a thread loads together

  // Lines begin at multiples of 16 bytes.
  template <class Element>
  struct Matrix {
    Element* data;
    std::int64_t pitch;
    TW_DEVICE Element* line(int row) const { return data + row * pitch; }
  };
  using Half = Matrix<std::uint16_t>;  // bf16, or fp16
  struct Params {
    Matrix<const std::uint16_t> qkv;
    Matrix<const float> cosines, sines;
    const std::int32_t *positions, *slots;  // null: token i has row i
    Half q, k, v;
    unsigned heads, key_heads, head_size;
    unsigned rows;      // rows of k and v
    int last_position;  // the last row of cosines and sines
    ElementType type;
  };
  struct Storage {};

  TW_DEVICE RotaryStream(const Params& params, Storage&, unsigned thread)
      : params_(params), thread_(thread) {}

  TW_DEVICE void pass(unsigned token) {
    if (params_.type == ElementType::Bf16) {
      rotate<ElementType::Bf16>(static_cast<int>(token));
    } else {
      rotate<ElementType::Fp16>(static_cast<int>(token));
    }
  }

 private:
  using Piece = Vector<std::uint32_t, length / 2>;  // pairs of elements
  struct Angles {
    FragmentPair cosines[length / 2], sines[length / 2];
  };

  static TW_DEVICE int row_of(const std::int32_t* rows, int token) {
    return rows == nullptr ? token : load_element<Space::Global>(rows + token);
  }
  // No host reads the positions: those outside of the tables are taken for the nearest inside.
  static TW_DEVICE int within(int row, int last) { return row < 0 ? 0 : row > last ? last : row; }
  static TW_DEVICE void load(FragmentPair (&pairs)[length / 2], const float* from) {
    using Quad = Vector<float, 4>;
    TW_UNROLL
    for (unsigned i = 0; i < length / 4; ++i) {
      const Quad quad = load_element<Space::Global>(reinterpret_cast<const Quad*>(from) + i);
      pairs[2 * i] = {quad.get(0), quad.get(1)};
      pairs[2 * i + 1] = {quad.get(2), quad.get(3)};
    }
  }

  template <ElementType type>
  TW_DEVICE void rotate(int token) const {
    const unsigned half = params_.head_size / 2, threads_of_head = half / length;
    const unsigned at_once = threads / threads_of_head;  // heads
    const unsigned column = thread_ % threads_of_head * length;
    const unsigned first = thread_ / threads_of_head;
    const unsigned all = params_.heads + 2 * params_.key_heads;
    if (first >= at_once) return;
    const int slot = row_of(params_.slots, token);
    const int position = within(row_of(params_.positions, token), params_.last_position);
    Angles angles;
    load(angles.cosines, params_.cosines.line(position) + column);
    load(angles.sines, params_.sines.line(position) + column);
    const std::uint16_t* const from = params_.qkv.line(token) + column;
    for (unsigned head = first; head < all; head += pieces * at_once) {
      Piece real[pieces], imaginary[pieces];
      TW_UNROLL
      for (unsigned i = 0; i < pieces; ++i) {
        const std::uint16_t* const at = from + (head + i * at_once) * params_.head_size;
        if (head + i * at_once >= all) continue;
        real[i] = load_element<Space::Global>(reinterpret_cast<const Piece*>(at));
        imaginary[i] = load_element<Space::Global>(reinterpret_cast<const Piece*>(at + half));
      }
      TW_UNROLL
      for (unsigned i = 0; i < pieces; ++i) {
        const unsigned this_one = head + i * at_once;
        std::uint16_t* const to = this_one < all ? place(this_one, token, slot) : nullptr;
        if (to == nullptr) continue;
        if (this_one < params_.heads + params_.key_heads) {
          multiply<type>(real[i], imaginary[i], angles);
        }
        store_element<Space::Global>(reinterpret_cast<Piece*>(to + column), real[i]);
        store_element<Space::Global>(reinterpret_cast<Piece*>(to + column + half), imaginary[i]);
      }
    }
  }

  // Where a head goes; null: nowhere.
  TW_DEVICE std::uint16_t* place(unsigned head, int token, int slot) const {
    if (head < params_.heads) return params_.q.line(token) + head * params_.head_size;
    if (static_cast<unsigned>(slot) >= params_.rows) return nullptr;
    const unsigned behind = head - params_.heads;
    if (behind < params_.key_heads) return params_.k.line(slot) + behind * params_.head_size;
    return params_.v.line(slot) + (behind - params_.key_heads) * params_.head_size;
  }

  static TW_DEVICE FragmentPair fused(FragmentPair left, FragmentPair right, FragmentPair added) {
    return {std::fma(left.first, right.first, added.first),
            std::fma(left.second, right.second, added.second)};
  }
  // Each sum has two products. The second is rounded to float32 before fma adds the first to it.
  template <ElementType type>
  static TW_DEVICE void multiply(Piece& real, Piece& imaginary, const Angles& angles) {
    TW_UNROLL
    for (int i = 0; i < static_cast<int>(length / 2); ++i) {
      const FragmentPair x = values_of<type>(real.get(i)), y = values_of<type>(imaginary.get(i));
      const FragmentPair cosines = angles.cosines[i], sines = angles.sines[i];
      real.set(i, pack<type>(fused(x, cosines, y * sines * -1.0f)));
      imaginary.set(i, pack<type>(fused(y, cosines, x * sines)));
    }
  }

  const Params& params_;
  unsigned thread_;
};

template <class Page, class Named>
struct Rotary : Streamed<Page, Named> {
  using Stream = RotaryStream;
  static constexpr bool dependent_launch = Named::config.dependent_launch;
};

}  // namespace tw
