#include "src/instances/run_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/instances/names.h"

namespace tw {

std::string option_of(const char* field) {
  std::string option = fmt::format("--{}", field);
  for (char& letter : option) letter = letter == '_' ? '-' : letter;
  return option;
}

namespace {
std::string& program() {
  static std::string name = "./tw";
  return name;
}
}  // namespace

const std::string& program_name() { return program(); }
void set_program_name(const std::string& name) { program() = name; }

std::string list_words(const std::vector<std::int64_t>& list) {
  return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ","));
}

EpilogueShape shape_of(const tw_epilogue& epilogue) {
  EpilogueShape shape;
  shape.alpha = epilogue.alpha;
  shape.beta = epilogue.source.data == nullptr ? 0.0f : epilogue.beta;
  shape.output_scale = epilogue.output_scale;
  shape.activation = static_cast<Activation>(epilogue.activation);
  shape.clamp_low = epilogue.clamp_low;
  shape.clamp_high = epilogue.clamp_high;
  shape.gated = epilogue.gated != 0;
  shape.column_bias = epilogue.column_bias != nullptr;
  shape.row_bias = epilogue.row_bias != nullptr;
  shape.column_scale = epilogue.column_scale != nullptr;
  shape.row_scale = epilogue.row_scale != nullptr;
  shape.auxiliary = epilogue.auxiliary.data != nullptr;
  shape.amax = epilogue.amax != nullptr;
  shape.source_type = static_cast<ElementType>(epilogue.source.type);
  shape.bias_type = static_cast<ElementType>(epilogue.bias_type);
  shape.auxiliary_type = static_cast<ElementType>(epilogue.auxiliary.type);
  return shape;
}

std::string order_words(const LaunchOrder& order) {
  std::string words;
  if (order.split_k != 1) words += fmt::format(" --split-k {}", order.split_k);
  if (order.stream_k) words += " --stream-k";
  if (order.group != 0) words += fmt::format(" --group {}", order.group);
  if (order.raster == Raster::AlongN) words += " --raster n";
  return words;
}

std::string problem_words(const Description& description, const void* problem, const Lists& lists) {
  std::string words;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const bool is_usual = lists[i].empty() && description.lists[i].usual[0] == '\0';
    if (is_usual) continue;
    words += fmt::format(" {} {}", option_of(description.lists[i].name), list_words(lists[i]));
  }
  for (const IntegerField& number : description.numbers) {
    const std::int64_t value = number.get(problem);
    if (number.kind == IntegerField::Kind::Extent) {
      words += fmt::format(" {} {}", option_of(number.name), value);
    } else if (number.kind == IntegerField::Kind::Flag && value != 0) {
      words += fmt::format(" {}", option_of(number.name));
    } else if (number.kind == IntegerField::Kind::Choice) {
      words += fmt::format(" {} {}", option_of(number.name), number.words[value]);
    }
  }
  for (const RealField& real : description.reals) {
    const auto value = static_cast<float>(real.get(problem));
    if (value == static_cast<float>(real.usual)) continue;
    words += fmt::format(" {} {}", option_of(real.name), value);
  }
  for (const TensorField& tensor : description.tensors) {
    if (tensor.present != nullptr && !tensor.present(problem)) continue;
    const tw_matrix given = tensor.get(problem);
    if (tensor.optional) words += fmt::format(" {}", option_of(tensor.name));
    const auto type = static_cast<ElementType>(given.type);
    if (type != tensor.types.usual && tensor.has_type) {
      words += fmt::format(" {}-type {}", option_of(tensor.name), name_of(type));
    }
    const bool by_rows = given.column_stride == 1;
    if (tensor.has_either_side() && by_rows != tensor.is_usually_by_rows()) {
      words += fmt::format(" {} {}", option_of(tensor.name), by_rows ? "row" : "column");
    }
  }
  if (description.product == nullptr) return words;
  return words + epilogue_options(shape_of(description.product->epilogue(problem)));
}

}  // namespace tw
