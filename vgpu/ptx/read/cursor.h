// The tokens of a text, one after the other.
#pragma once

#include <string_view>
#include <vector>

#include "vgpu/ptx/read/lexer.h"

namespace tw::vgpu::ptx {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : tokens_(tokens_of(text)) {}

  const Token& peek(std::size_t ahead = 0) const {
    const std::size_t at = at_ + ahead;
    return at < tokens_.size() ? tokens_[at] : tokens_.back();
  }
  bool at_end() const { return peek().kind == Token::End; }
  const Token& take() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool accept(std::string_view wanted) {
    if (!peek().is(wanted)) return false;
    take();
    return true;
  }
  // `wanted` says in words what could stand here; without it, it is the token itself.
  const Token& expect(std::string_view token, std::string_view wanted) {
    if (!peek().is(token)) fail_expecting(peek(), wanted);
    return take();
  }
  const Token& expect(Token::Kind kind, std::string_view wanted) {
    if (peek().kind != kind) fail_expecting(peek(), wanted);
    return take();
  }
  // Behind the bracket that closes the one that is next.
  void skip_braces() {
    const Token& open = expect("{", "'{'");
    unsigned depth = 1;
    while (depth > 0) {
      if (at_end()) fail_at(open.place, "this '{' is never closed.");
      const Token& token = take();
      if (token.is("{")) ++depth;
      if (token.is("}")) --depth;
    }
  }

 private:
  friend class Nesting;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
};

// Brackets within brackets, which the reader follows by calling itself: no text may do so without
// end.
class Nesting {
 public:
  explicit Nesting(Cursor& cursor) : cursor_(cursor) {
    constexpr unsigned most = 64;
    if (++cursor_.depth_ > most) {
      fail_at(cursor_.peek().place, "brackets stand in more than 64 others here.");
    }
  }
  ~Nesting() { --cursor_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Cursor& cursor_;
};

}  // namespace tw::vgpu::ptx
