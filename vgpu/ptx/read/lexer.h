// Characters to tokens.
#pragma once

#include <string_view>
#include <vector>

#include "vgpu/ptx/read/token.h"

namespace tw::vgpu::ptx {

// Throws Refusal with line and column where a character begins nothing that PTX has. The last token
// is an End. Tokens point into the text.
std::vector<Token> tokens_of(std::string_view text);

// Throws Refusal: "Line 3, column 7: expected WANTED, but there is FOUND."
[[noreturn]] void fail_expecting(const Token& found, std::string_view wanted);
[[noreturn]] void fail_at(Place place, std::string_view sentence);

}  // namespace tw::vgpu::ptx
