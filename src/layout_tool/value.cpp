#include "src/layout_tool/value.h"

namespace tw::layout_tool {

namespace {

std::string text_of(std::int64_t number) { return std::to_string(number); }
std::string text_of(const Layout& layout) { return to_string(layout); }
std::string text_of(Swizzle swizzle) { return to_string(swizzle); }
std::string text_of(const Tiler& tiler) {
  std::string text;
  for (int i = 0; i < tiler.rank; ++i) {
    text += i == 0 ? '<' : ',';
    text += to_string(tiler[i]);
  }
  return text + ">";
}

}  // namespace

const char* kind_of(const Value& value) {
  static constexpr const char* kinds[] = {"a number", "a layout", "a tiler", "a swizzle"};
  return kinds[value.index()];
}

std::string to_text(const Value& value) {
  return std::visit([](const auto& held) { return text_of(held); }, value);
}

}  // namespace tw::layout_tool
