#include "src/bench/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/bench/shape_numbers.h"
#include "src/checkout.h"

namespace tw::bench {

namespace {

bool is_positive(const nlohmann::json& value) {
  return value.is_number_integer() && value.get<std::int64_t>() > 0;
}

}  // namespace

Status read_shape(MatmulCase& shape, const std::string& text) {
  const std::vector<std::int64_t> numbers = numbers_in(text, 'x');
  if (numbers.size() == 3 && *std::min_element(numbers.begin(), numbers.end()) > 0) {
    shape.m = numbers[0];
    shape.n = numbers[1];
    shape.k = numbers[2];
    return Status::good();
  }
  return Status::refused(
      fmt::format("The shape '{}' is not of the form MxNxK with positive numbers.", text));
}

Status read_suite(Suite& suite, const std::string& family, const std::string& name) {
  const std::string by_name = in_checkout(fmt::format("bench/suites/{}-{}.json", family, name));
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
  const nlohmann::json type = field("a", "bf16");
  const nlohmann::json pitch_align = field("pitch_align", 1);
  const nlohmann::json compared_to = field("compared_to", nullptr);
  if (!type.is_string() || !is_positive(pitch_align) ||
      !(compared_to.is_null() || is_positive(compared_to))) {
    return Status::refused(
        fmt::format("The suite '{}' has an \"a\" that is no name of a type, or a \"pitch_align\" "
                    "or \"compared_to\" that is no positive number.",
                    name));
  }
  suite.type = type;
  for (const nlohmann::json& entry : json["shapes"]) {
    MatmulCase shape;
    shape.pitch_align = pitch_align;
    shape.compared_to = compared_to.is_null() ? 0 : compared_to.get<std::int64_t>();
    if (!entry.is_object() || !entry.contains("m") || !entry.contains("n") ||
        !entry.contains("k")) {
      return Status::refused(fmt::format(
          "The suite '{}' has a shape without m, n and k: it is not of {}.", name, family));
    }
    if (!is_positive(entry["m"]) || !is_positive(entry["n"]) || !is_positive(entry["k"])) {
      return Status::refused(
          fmt::format("Shape {} of the suite '{}' has an m, n or k that is no positive number.",
                      suite.shapes.size() + 1, name));
    }
    shape.m = entry["m"];
    shape.n = entry["n"];
    shape.k = entry["k"];
    suite.shapes.push_back(shape);
  }
  return Status::good();
}

}  // namespace tw::bench
