#include "src/bench/conv2d_suite.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/bench/shape_numbers.h"
#include "src/checkout.h"

namespace tw::bench {

namespace {

// What a file's entry or a text says of one convolution; both sides alike.
struct Numbers {
  std::int64_t n = 0, h = 0, w = 0, c = 0, k = 0, r = 0, s = 0, stride = 1, pad = 0, dilation = 1;
  std::int64_t groups = 1;
  bool good() const {
    return n > 0 && h > 0 && w > 0 && c > 0 && k > 0 && r > 0 && s > 0 && stride > 0 && pad >= 0 &&
           dilation > 0 && groups > 0 && c % groups == 0 && k % groups == 0;
  }
  Conv2dCase convolution() const {
    Conv2dCase shape;
    shape.n = n;
    shape.c = c;
    shape.k = k;
    shape.groups = groups;
    shape.h = {h, r, stride, dilation, pad, pad};
    shape.w = {w, s, stride, dilation, pad, pad};
    return shape;
  }
};

}  // namespace

Status read_conv2d_shape(Conv2dCase& shape, const std::string& text) {
  Numbers of;
  const std::size_t comma = text.find(',');
  const std::vector<std::int64_t> extents = numbers_in(text.substr(0, comma), 'x');
  const std::vector<std::int64_t> steps = comma == std::string::npos
                                              ? std::vector<std::int64_t>{}
                                              : numbers_in(text.substr(comma + 1), ',');
  const bool complete =
      extents.size() == 7 && steps.size() <= 4 && (comma == std::string::npos || !steps.empty());
  if (complete) {
    std::int64_t* const sides[] = {&of.n, &of.h, &of.w, &of.c, &of.k, &of.r, &of.s};
    std::int64_t* const others[] = {&of.stride, &of.pad, &of.dilation, &of.groups};
    for (std::size_t i = 0; i < extents.size(); ++i) *sides[i] = extents[i];
    for (std::size_t i = 0; i < steps.size(); ++i) *others[i] = steps[i];
  }
  if (!complete || !of.good()) {
    return Status::refused(fmt::format(
        "The shape '{}' is not of the form NxHxWxCxKxRxS[,STRIDE[,PAD[,DILATION[,GROUPS]]]] with "
        "positive numbers, C and K multiples of GROUPS.",
        text));
  }
  shape = of.convolution();
  return Status::good();
}

Status read_conv2d_suite(Conv2dSuite& suite, const std::string& name) {
  const std::string by_name = in_checkout(fmt::format("bench/suites/conv2d-{}.json", name));
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
  suite.type = json.contains("type") && json["type"].is_string() ? json["type"] : "bf16";
  for (const nlohmann::json& entry : json["shapes"]) {
    Numbers of;
    const auto read = [&entry](std::int64_t& number, const char* key) {
      if (!entry.is_object() || !entry.contains(key)) return;
      number = entry[key].is_number_integer() ? entry[key].get<std::int64_t>() : -1;
    };
    read(of.n, "n");
    read(of.h, "h");
    read(of.w, "w");
    read(of.c, "c");
    read(of.k, "k");
    read(of.r, "r");
    read(of.s, "s");
    read(of.stride, "stride");
    read(of.pad, "pad");
    read(of.dilation, "dilation");
    read(of.groups, "groups");
    if (!of.good()) {
      return Status::refused(fmt::format(
          "Shape {} of the suite '{}' is no convolution: that has n, h, w, c, k, r and s, and may "
          "have stride, pad, dilation and groups that divide c and k, all positive numbers.",
          suite.shapes.size() + 1, name));
    }
    suite.shapes.push_back(of.convolution());
  }
  return Status::good();
}

}  // namespace tw::bench
