// The smallest pieces of a PTX text.
#pragma once

#include <string>
#include <string_view>

#include "vgpu/ptx/program.h"

namespace tw::vgpu::ptx {

struct Token {
  enum Kind : std::uint8_t {
    Word,    // mov, %r1, $L__BB0_1, _ZN2tw
    Dotted,  // .reg, .shared::cta, .2d
    Number,  // 12, 0x1F, 0f3F800000, 9.0, 3U
    String,  // with its quotes
    Mark,    // one character, or << and >>
    End,
  };
  Kind kind = End;
  std::string_view text;
  Place place;
  bool is_adjacent = false;  // nothing stands between it and the token before

  bool is(std::string_view wanted) const { return kind != String && text == wanted; }
};

}  // namespace tw::vgpu::ptx
