// printf, as the driver writes it.
#include <cstdio>

#include "vgpu/ptx/run/call.h"
#include "vgpu/ptx/run/spaces.h"

namespace tw::vgpu::ptx {
namespace {

constexpr std::size_t most_characters = 65536;

// Arguments lie one behind the other, each aligned to its bytes.
class Arguments {
 public:
  Arguments(const Frame& frame, std::uint64_t address) : frame_(frame), address_(address) {}

  template <class T>
  T next() {
    address_ = (address_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    load_generic(frame_, &value, address_, sizeof value);
    address_ += sizeof(T);
    return value;
  }

 private:
  const Frame& frame_;
  std::uint64_t address_;
};

template <class T>
std::string shown(const std::string& conversion, T value) {
  const int length = std::snprintf(nullptr, 0, conversion.c_str(), value);
  std::string text(static_cast<std::size_t>(length < 0 ? 0 : length), '\0');
  std::snprintf(text.data(), text.size() + 1, conversion.c_str(), value);
  return text;
}

// One conversion: what stands between its % and its letter, without its length.
std::string converted(const Frame& frame, const std::string& flags, bool is_long, char letter,
                      Arguments& arguments) {
  switch (letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      const std::string conversion = "%" + flags + "ll" + letter;
      const bool is_signed = letter == 'd' || letter == 'i';
      if (is_long) return shown(conversion, arguments.next<long long>());
      const auto value = arguments.next<std::uint32_t>();
      return shown(conversion, is_signed ? static_cast<long long>(static_cast<std::int32_t>(value))
                                         : static_cast<long long>(value));
    }
    case 'c':
      return shown("%" + flags + "c", static_cast<int>(arguments.next<std::uint32_t>() & 0xff));
    case 's': {
      const std::string text = text_at(frame, arguments.next<std::uint64_t>());
      return shown("%" + flags + "s", text.c_str());
    }
    case 'p': return shown("%" + flags + "#llx", arguments.next<long long>());
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return shown("%" + flags + letter, arguments.next<double>());
    default: return "%" + flags + letter;
  }
}

}  // namespace

std::string text_at(const Frame& frame, std::uint64_t address) {
  std::string text;
  for (char c = 0; text.size() < most_characters; text += c) {
    load_generic(frame, &c, address++, 1);
    if (c == 0) break;
  }
  return text;
}

std::string printed(const Frame& frame, std::uint64_t format, std::uint64_t arguments) {
  const std::string text = text_at(frame, format);
  Arguments values(frame, arguments);
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      line += text[i];
      continue;
    }
    std::string flags;
    unsigned longs = 0;
    for (++i; i + 1 < text.size(); ++i) {
      const char c = text[i];
      if (c == '*') {
        flags += std::to_string(values.next<std::int32_t>());
      } else if (c == 'l') {
        ++longs;
      } else if (c == 'z' || c == 'j' || c == 't') {
        longs = 2;
      } else if (std::string_view("-+ #0123456789.").find(c) != std::string_view::npos) {
        flags += c;
      } else if (c != 'h') {
        break;
      }
    }
    line += text[i] == '%' ? "%" : converted(frame, flags, longs != 0, text[i], values);
  }
  return line;
}

}  // namespace tw::vgpu::ptx
