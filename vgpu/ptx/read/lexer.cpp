#include "vgpu/ptx/read/lexer.h"

#include <fmt/format.h>

#include <cctype>

#include "tilewright/base/require.h"

namespace tw::vgpu::ptx {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> all() {
    std::vector<Token> tokens;
    do {
      const std::size_t before = at_;
      skip_blanks();
      Token token = next();
      token.is_adjacent = before == begin_;
      tokens.push_back(token);
    } while (tokens.back().kind != Token::End);
    return tokens;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  Place place(std::size_t at) const { return {line_, static_cast<unsigned>(at - line_begin_ + 1)}; }
  void advance() {
    if (text_[at_] == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    }
    ++at_;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      // Texts that come out of an image end with a zero.
      if (std::isspace(static_cast<unsigned char>(peek())) != 0 || peek() == '\0') {
        advance();
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') advance();
      } else if (peek() == '/' && peek(1) == '*') {
        skip_comment();
      } else {
        return;
      }
    }
  }
  void skip_comment() {
    const Place begin = place(at_);
    at_ += 2;
    while (at_ < text_.size() && !(peek() == '*' && peek(1) == '/')) advance();
    if (at_ == text_.size()) fail_at(begin, "this comment has no end.");
    at_ += 2;
  }

  Token next() {
    begin_ = at_;
    if (at_ == text_.size()) return make(Token::End);
    const char c = peek();
    if (is_name_start(c) || (c == '%' && is_name_start(peek(1)))) return word();
    if (is_digit(c)) return number();
    if (c == '.' && is_name_part(peek(1))) return dotted();
    if (c == '"') return string();
    if ((c == '<' || c == '>') && peek(1) == c) ++at_;
    if (std::string_view("{}[]()<>,;:+-*/%!~&|^@=?").find(c) == std::string_view::npos) {
      fail_at(place(at_), fmt::format("no token of PTX begins with '{}'.", c));
    }
    ++at_;
    return make(Token::Mark);
  }
  Token make(Token::Kind kind) const {
    return {kind, text_.substr(begin_, at_ - begin_), place(begin_)};
  }
  Token word() {
    ++at_;
    while (is_name_part(peek())) ++at_;
    return make(Token::Word);
  }
  Token number() {
    while (is_name_part(peek())) ++at_;
    if (peek() == '.' && is_digit(peek(1))) {
      ++at_;
      while (is_name_part(peek())) ++at_;
    }
    const char last = text_[at_ - 1];
    const bool is_hexadecimal = peek_at(begin_ + 1) == 'x' || peek_at(begin_ + 1) == 'X' ||
                                peek_at(begin_ + 1) == 'f' || peek_at(begin_ + 1) == 'd';
    if ((last == 'e' || last == 'E') && !is_hexadecimal && (peek() == '-' || peek() == '+')) {
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    return make(Token::Number);
  }
  char peek_at(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  Token dotted() {
    ++at_;
    for (;;) {
      while (is_name_part(peek())) ++at_;
      if (peek() != ':' || peek(1) != ':' || !is_name_part(peek(2))) return make(Token::Dotted);
      at_ += 2;
    }
  }
  Token string() {
    ++at_;
    while (at_ < text_.size() && peek() != '"' && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    if (peek() != '"') fail_at(place(begin_), "this string has no end on its line.");
    ++at_;
    return make(Token::String);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;  // where the token begins
  std::size_t line_begin_ = 0;
  unsigned line_ = 1;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).all(); }

void fail_expecting(const Token& found, std::string_view wanted) {
  const std::string there = found.kind == Token::End ? "the text ends"
                            : found.kind == Token::String
                                ? fmt::format("there is {}", found.text)
                                : fmt::format("there is '{}'", found.text);
  fail_at(found.place, fmt::format("expected {}, but {}.", wanted, there));
}

void fail_at(Place place, std::string_view sentence) {
  throw Refusal(fmt::format("Line {}, column {}: {}", place.line, place.column, sentence));
}

}  // namespace tw::vgpu::ptx
