#include "src/instances/names.h"

#include <fmt/format.h>

namespace tw {

std::optional<ElementType> element_type_of(const std::string& name) {
  for (const ElementType type : element_types) {
    if (name == name_of(type)) return type;
  }
  return std::nullopt;
}

std::string epilogue_words(const EpilogueShape& epilogue) {
  std::string words;
  const auto add = [&words](const char* word) {
    if (!words.empty()) words += ',';
    words += word;
  };
  for (const auto& [name, present] : epilogue_switches) {
    if (epilogue.*present) add(name);
  }
  if (epilogue.activation != Activation::None) add(name_of(epilogue.activation));
  return words;
}

std::string epilogue_options(const EpilogueShape& epilogue) {
  std::string line;
  const auto add = [&line](bool wanted, const std::string& words) {
    if (wanted) line.append(" ").append(words);
  };
  add(epilogue.alpha != 1.0f, fmt::format("--alpha {}", epilogue.alpha));
  add(epilogue.beta != 0.0f,
      fmt::format("--beta {} --source-type {}", epilogue.beta, name_of(epilogue.source_type)));
  const std::string words = epilogue_words(epilogue);
  add(!words.empty(), "--epilogue " + words);
  add(epilogue.activation == Activation::Clamp,
      fmt::format("--clamp-low {} --clamp-high {}", epilogue.clamp_low, epilogue.clamp_high));
  add(epilogue.column_bias || epilogue.row_bias,
      fmt::format("--bias-type {}", name_of(epilogue.bias_type)));
  add(epilogue.auxiliary, fmt::format("--auxiliary-type {}", name_of(epilogue.auxiliary_type)));
  add(epilogue.output_scale != 1.0f, fmt::format("--output-scale {}", epilogue.output_scale));
  return line;
}

std::string shape_words(const MatmulShape& shape) {
  std::string line = fmt::format(" --m {} --n {} --k {}", shape.m, shape.n, shape.k);
  if (shape.batch != 1) line += fmt::format(" --batch {}", shape.batch);
  if (shape.shared_b) line += " --shared-b";
  if (shape.unaligned) line += " --unaligned";
  line += spacing_words(shape.spacing);
  return line + epilogue_options(shape.epilogue);
}

}  // namespace tw
