#include "src/bench/harness/case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/bench/harness/forms.h"
#include "src/bench/harness/shape_numbers.h"
#include "src/checkout.h"
#include "src/instances/names.h"

namespace tw::bench {

namespace {

std::string capitals(const std::string& name) {
  std::string text;
  for (const char letter : name)
    text += letter == '_' ? ' ' : static_cast<char>(std::toupper(letter));
  return text;
}

// Up to the last of the others that is not usual.
std::size_t counted_others(const MeasuredCase& of) {
  std::size_t count = of.form->others.size();
  while (count > 0 &&
         of.numbers[of.form->names.size() + count - 1] == of.form->others[count - 1].usual) {
    --count;
  }
  return count;
}

// Read and written once.
double bytes_of_tensors(const Checked& problem) {
  double bytes = 0;
  for (std::size_t i = 0; i < problem.description().tensors.size(); ++i) {
    const TensorLines& lines = problem.tensor(i);
    if (lines.data == nullptr) continue;
    bytes += static_cast<double>(lines.batch) * static_cast<double>(lines.lines) *
             static_cast<double>(lines.length) * bits_in(lines.type) / 8;
  }
  return bytes;
}

bool is_positive(const nlohmann::json& value) {
  return value.is_number_integer() && value.get<std::int64_t>() > 0;
}

}  // namespace

std::string ShapeForm::text() const {
  std::vector<std::string> words;
  for (const char* name : names) words.push_back(capitals(name));
  std::string text = fmt::format("{}", fmt::join(words, "x"));
  for (const Number& other : others) text += "[," + capitals(other.name);
  return text + std::string(others.size(), ']');
}

const ShapeForm* form_of(const std::string& family) {
  for (const ShapeForm* form : all_forms()) {
    if (family == form->description->name) return form;
  }
  return nullptr;
}

Status make_case(MeasuredCase& made, const ShapeForm& form, std::vector<std::int64_t> numbers,
                 ElementType type, const CaseRequest& request) {
  made.form = &form;
  made.described = form.description;
  made.numbers = std::move(numbers);
  Shape& shape = made.shape;
  shape = {};
  shape.type = type;
  form.state(made, type, request);
  for (std::size_t i = 0; i < made.numbers.size(); ++i) {
    const std::size_t first = form.names.size();
    shape.numbers.emplace_back(i < first ? form.names[i] : form.others[i - first].name,
                               made.numbers[i]);
  }
  if (shape.text.empty()) {
    shape.text = fmt::format(
        "{}", fmt::join(made.numbers.begin(), made.numbers.begin() + form.names.size(), " x "));
    for (std::size_t i = 0; i < counted_others(made); ++i) {
      shape.text += fmt::format(", {}", made.numbers[form.names.size() + i]);
    }
  }
  return complete(made);
}

Status complete(MeasuredCase& made) {
  Checked checked;
  const Status status = check(checked, made.description(), made.problem.data());
  if (!status.is_good()) return status;
  Shape& shape = made.shape;
  if (shape.bytes == 0) shape.bytes = bytes_of_tensors(checked);
  if (made.description().product == nullptr) return status;
  const MatmulProblem product = checked.product();
  shape.m = product.m;
  shape.n = product.n;
  shape.k = product.k;
  if (shape.flops == 0) shape.flops = 2.0 * product.m * product.n * product.k * product.batch;
  return status;
}

Status read_shape(std::vector<std::int64_t>& numbers, const ShapeForm& form,
                  const std::string& text) {
  const std::size_t comma = text.find(',');
  numbers = numbers_in(text.substr(0, comma), 'x');
  std::vector<std::int64_t> more;
  if (comma != std::string::npos) more = numbers_in(text.substr(comma + 1), ',');
  bool good = numbers.size() == form.names.size() && more.size() <= form.others.size() &&
              (comma == std::string::npos || !more.empty());
  for (const std::int64_t number : numbers) good = good && number > 0;
  for (std::size_t i = 0; good && i < form.others.size(); ++i) {
    numbers.push_back(i < more.size() ? more[i] : form.others[i].usual);
    good = numbers.back() >= form.others[i].least;
  }
  if (good) return Status::good();
  return Status::refused(fmt::format("The shape '{}' is not of the form {} with positive numbers.",
                                     text, form.text()));
}

std::string shape_words(const MeasuredCase& of) {
  const auto first = of.numbers.begin() + static_cast<std::ptrdiff_t>(of.form->names.size());
  std::string words = fmt::format("{}", fmt::join(of.numbers.begin(), first, "x"));
  for (std::size_t i = 0; i < counted_others(of); ++i) {
    words += fmt::format(",{}", first[static_cast<std::ptrdiff_t>(i)]);
  }
  return words;
}

Status read_type(ElementType& type, const ShapeForm& form, const std::string& name) {
  type = form.types.front();
  if (name.empty()) return Status::good();
  const auto named = element_type_of(name);
  if (named.has_value() &&
      std::find(form.types.begin(), form.types.end(), *named) != form.types.end()) {
    type = *named;
    return Status::good();
  }
  std::vector<std::string> types;
  for (const ElementType one : form.types) types.push_back(name_of(one));
  return Status::refused(fmt::format("The type '{}' of {} is not measured; {} {}.", name,
                                     form.description->name, fmt::join(types, ", "),
                                     types.size() == 1 ? "is" : "are"));
}

MeasuredCase rounded_up(const MeasuredCase& of) {
  std::vector<std::int64_t> numbers = of.numbers;
  for (std::size_t i = 0; i < of.form->names.size(); ++i) {
    numbers[i] = (numbers[i] + of.compared_to - 1) / of.compared_to * of.compared_to;
  }
  MeasuredCase larger;
  (void)make_case(larger, *of.form, numbers, of.shape.type, {});  // the problem has been checked
  return larger;
}

Status read_suite(Suite& suite, const ShapeForm& form, const std::string& name) {
  const std::string by_name =
      in_checkout(fmt::format("bench/suites/{}-{}.json", form.suites, name));
  suite.file = std::filesystem::is_regular_file(name) ? name : by_name;
  std::ifstream file(suite.file);
  if (!file) {
    return Status::refused(fmt::format(
        "The suite '{0}' cannot be read: there is neither a file '{0}' nor '{1}'.", name, by_name));
  }
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("shapes") || !json["shapes"].is_array()) {
    return Status::refused(fmt::format("The suite '{}' is not JSON with \"shapes\".", name));
  }
  const auto field = [&json](const char* key, const nlohmann::json& usual) {
    return json.contains(key) ? json[key] : usual;
  };
  const nlohmann::json type = field("a", field("type", ""));
  const nlohmann::json pitch_align = field("pitch_align", 1);
  const nlohmann::json compared_to = field("compared_to", nullptr);
  if (!type.is_string() || !is_positive(pitch_align) ||
      !(compared_to.is_null() || is_positive(compared_to))) {
    return Status::refused(
        fmt::format("The suite '{}' has a type that is no name, or a \"pitch_align\" or "
                    "\"compared_to\" that is no positive number.",
                    name));
  }
  suite.type = type;
  suite.pitch_align = pitch_align;
  suite.compared_to = compared_to.is_null() ? 0 : compared_to.get<std::int64_t>();
  for (const nlohmann::json& entry : json["shapes"]) {
    const auto has = [&entry](const char* key) { return entry.is_object() && entry.contains(key); };
    std::vector<std::int64_t>& numbers = suite.shapes.emplace_back();
    bool good = true;
    const auto read = [&](const char* key, std::int64_t usual, std::int64_t least) {
      const bool is_flag = has(key) && entry[key].is_boolean();
      const bool is_number = is_flag || (has(key) && entry[key].is_number_integer());
      numbers.push_back(is_flag     ? entry[key].get<bool>()
                        : is_number ? entry[key].get<std::int64_t>()
                                    : usual);
      good = good && (is_number || !has(key)) && numbers.back() >= least;
    };
    for (const char* key : form.names) {
      if (!has(key)) {
        return Status::refused(
            fmt::format("The suite '{}' has a shape without {}: it is not of {}.", name, key,
                        form.description->name));
      }
      read(key, 0, 1);
    }
    for (const ShapeForm::Number& other : form.others) read(other.name, other.usual, other.least);
    if (!good) {
      return Status::refused(
          fmt::format("Shape {} of the suite '{}' has a number that is not "
                      "positive.",
                      suite.shapes.size(), name));
    }
  }
  return Status::good();
}

Status read_cases(std::vector<MeasuredCase>& cases, std::string& file, const ShapeForm& form,
                  const std::string& suite, const std::vector<std::string>& shapes,
                  CaseRequest request) {
  Suite read;
  if (!suite.empty()) {
    if (Status status = read_suite(read, form, suite); !status.is_good()) return status;
  }
  file = read.file;
  request.pitch_align = read.pitch_align;
  const bool is_usual = suite.empty() && shapes.empty();
  std::vector<std::string> texts = shapes;
  if (is_usual) texts.assign(form.usual.begin(), form.usual.end());
  for (const std::string& text : texts) {
    const Status status = read_shape(read.shapes.emplace_back(), form, text);
    if (!status.is_good()) return status;
  }
  ElementType type;
  // Shapes of others are measured in the family's own type where it has but one.
  const bool asks_suite = request.type.empty() && form.types.size() > 1;
  const Status status = read_type(type, form, asks_suite ? read.type : request.type);
  if (!status.is_good()) return status;
  for (const std::vector<std::int64_t>& numbers : read.shapes) {
    MeasuredCase& made = cases.emplace_back();
    if (Status made_good = make_case(made, form, numbers, type, request); !made_good.is_good()) {
      return Status::refused(
          fmt::format("The shape {}: {}", made.shape.text, made_good.sentence()));
    }
    made.compared_to = read.compared_to;
  }
  if (!cases.empty()) return Status::good();
  return Status::refused(
      fmt::format("There is nothing to measure: give --shape {} or --suite NAME.", form.text()));
}

}  // namespace tw::bench
