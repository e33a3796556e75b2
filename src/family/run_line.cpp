#include "src/family/run_line.h"

#include <fmt/format.h>

namespace tw {

std::string option_of(const char* field) {
  std::string option = fmt::format("--{}", field);
  for (char& letter : option) letter = letter == '_' ? '-' : letter;
  return option;
}

std::string problem_words(const Description& description, const void* problem) {
  std::string words;
  for (const IntegerField& number : description.numbers) {
    const std::int64_t value = number.get(problem);
    if (number.kind != IntegerField::Kind::Flag) {
      words += fmt::format(" {} {}", option_of(number.name), value);
    } else if (value != 0) {
      words += fmt::format(" {}", option_of(number.name));
    }
  }
  for (const TensorField& tensor : description.tensors) {
    const tw_matrix given = tensor.get(problem);
    const auto type = static_cast<ElementType>(given.type);
    if (type != tensor.types.usual) {
      words += fmt::format(" {}-type {}", option_of(tensor.name), name_of(type));
    }
    if (tensor.lines == TensorField::Lines::RowsOrColumns && given.column_stride != 1) {
      words += fmt::format(" {} column", option_of(tensor.name));
    }
  }
  return words;
}

}  // namespace tw
