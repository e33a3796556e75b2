#include "vgpu/ptx/use/described_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "vgpu/ptx/read/module.h"
#include "vgpu/ptx/use/element.h"
#include "vgpu/ptx/use/map_words.h"

namespace tw::vgpu::ptx {
namespace {

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> sentence, Arguments&&... arguments) {
  throw Refusal(fmt::format(sentence, std::forward<Arguments>(arguments)...));
}

template <class T>
T value_or_throw(Result<T>&& result) {
  if (!result.status.is_good()) throw Refusal(result.status.sentence());
  return std::move(*result.value);
}

std::string only_entry(const Module& module) {
  std::string names;
  unsigned count = 0;
  for (const Function& function : module.functions) {
    if (!function.is_entry) continue;
    names += (count++ == 0 ? "" : ", ") + function.name;
  }
  if (count == 0) refuse("The text has no entry.");
  if (count > 1) refuse("The text has {} entries; name one: {}.", count, names);
  return names;
}

// What a directive such as .reqntid says; zeros where it does not stand there.
Extent extent_of(const Function& function, std::string_view directive) {
  for (const Directive& one : function.directives) {
    if (one.name != directive || one.numbers.empty()) continue;
    const auto at = [&](std::size_t i) {
      return i < one.numbers.size() ? static_cast<unsigned>(one.numbers[i]) : 1u;
    };
    return {at(0), at(1), at(2)};
  }
  return {0, 0, 0};
}

std::string words_of(const Extent& extent) {
  return fmt::format("{}x{}x{}", extent.x, extent.y, extent.z);
}

bool is_number(std::string_view argument) {
  if (argument.starts_with('-')) argument.remove_prefix(1);
  return !argument.empty() && ((argument[0] >= '0' && argument[0] <= '9') || argument[0] == '.' ||
                               argument == "inf" || argument == "nan");
}

}  // namespace

DescribedLaunch::DescribedLaunch(std::string_view text, const LaunchWords& words,
                                 std::vector<Array> arrays)
    : module_(value_or_throw(read(text))), arrays_(std::move(arrays)) {
  const std::string entry = words.entry.empty() ? only_entry(module_) : words.entry;
  code_ = std::make_unique<Code>(value_or_throw(prepare(module_, entry)));
  place_extents(words);
  const Function& function = *code_->function;
  if (words.arguments.size() != function.parameters) {
    refuse("{} takes {} arguments, and not {}.", entry, function.parameters,
           words.arguments.size());
  }
  parameters_.resize(code_->parameter_bytes);
  for (std::size_t i = 0; i < function.parameters; ++i) {
    add_argument(function.variables[i], code_->entry->placed[i], words.arguments[i]);
  }
  request_.dynamic_shared = words.shared_bytes;
  request_.dependent_launch = words.dependent_launch;
  request_.parameters = parameters_;
  request_.print = [this](const std::string& line) { printed_.push_back(line); };
}

void DescribedLaunch::place_extents(const LaunchWords& words) {
  const Function& function = *code_->function;
  const Extent required = extent_of(function, "reqntid");
  const Extent required_cluster = extent_of(function, "reqnctapercluster");
  request_.grid = words.grid;
  request_.block = words.block.count() == 0 ? required : words.block;
  if (request_.block.count() == 0) {
    refuse("{} does not say how many threads a CTA has (.reqntid): say it.", function.name);
  }
  if (required.count() != 0 && request_.block.count() != required.count()) {
    refuse("{} has {} threads by .reqntid, and not {}.", function.name, words_of(required),
           words_of(request_.block));
  }
  const Extent most = extent_of(function, "maxntid");
  if (most.count() != 0 && request_.block.count() > most.count()) {
    refuse("{} has at most {} threads by .maxntid, and not {}.", function.name, words_of(most),
           words_of(request_.block));
  }
  const Extent cluster = words.cluster.count() == 0 ? required_cluster : words.cluster;
  if (cluster.count() == 0) return;
  if (required_cluster.count() != 0 && cluster.count() != required_cluster.count()) {
    refuse("{} has clusters of {} by .reqnctapercluster, and not of {}.", function.name,
           words_of(required_cluster), words_of(cluster));
  }
  const Extent& grid = request_.grid;
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    refuse("A grid of {} does not consist of whole clusters of {}.", words_of(grid),
           words_of(cluster));
  }
  request_.cluster = cluster;
}

const Array& DescribedLaunch::array(std::string_view name) const {
  const auto found = std::find_if(arrays_.begin(), arrays_.end(),
                                  [&](const Array& one) { return one.words().name == name; });
  if (found == arrays_.end()) refuse("There is no array '{}'.", name);
  return *found;
}

std::string DescribedLaunch::title() const {
  std::string title = fmt::format("{}, grid {}, block {}", code_->function->name,
                                  words_of(request_.grid), words_of(request_.block));
  if (request_.cluster.count() > 1) {
    title += fmt::format(", clusters of {}", words_of(request_.cluster));
  }
  return title;
}

void DescribedLaunch::add_argument(const Variable& parameter, const Placed& placed,
                                   const std::string& argument) {
  if (!parameter.is_array) {
    put_value(placed.offset, placed.bytes, parameter.type, argument, parameter.name);
  } else if (argument.starts_with("map:")) {
    put_value(placed.offset, placed.bytes, "struct", argument, parameter.name);
  } else if (argument.starts_with("struct:")) {
    put_struct(placed.offset, placed.bytes, std::string_view(argument).substr(7), parameter.name);
  } else {
    refuse("The parameter {} is a struct of {} bytes, and '{}' is none.", parameter.name,
           placed.bytes, argument);
  }
}

void DescribedLaunch::put_struct(std::size_t offset, std::size_t bytes, std::string_view parts,
                                 std::string_view parameter) {
  while (!parts.empty()) {
    const std::size_t end = std::min(parts.find(';'), parts.size());
    const std::string_view part = parts.substr(0, end);
    const std::size_t equals = part.find('=');
    std::size_t at = 0;
    const char* const stop = part.data() + std::min(equals, part.size());
    const auto [rest, error] = std::from_chars(part.data(), stop, at);
    if (equals == std::string_view::npos || error != std::errc() || rest != stop || at >= bytes) {
      refuse("'{}' of {} must be BYTE=ARGUMENT, with a byte below {}.", part, parameter, bytes);
    }
    put_value(offset + at, bytes - at, "struct", part.substr(equals + 1), parameter);
    parts.remove_prefix(std::min(end + 1, parts.size()));
  }
}

// `type` is the parameter's, or "struct": then the argument says its own.
void DescribedLaunch::put_value(std::size_t offset, std::size_t bytes, std::string_view type,
                                std::string_view argument, std::string_view parameter) {
  const bool is_struct = type == "struct";
  const auto put = [&](const void* value, std::size_t count) {
    if (count > bytes || (!is_struct && count != bytes)) {
      refuse("The parameter {} has {} bytes, and '{}' has {}.", parameter, bytes, argument, count);
    }
    std::memcpy(parameters_.data() + offset, value, count);
  };
  const auto put_address = [&](const void* address) {
    const auto bits = reinterpret_cast<std::uintptr_t>(address);
    put(&bits, sizeof bits);
  };
  if (argument == "null") return put_address(nullptr);
  if (argument.starts_with("map:")) {
    const std::string_view rest = argument.substr(4);
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const TensorMap map =
        map_of(rest.substr(std::min(comma + 1, rest.size())), array(rest.substr(0, comma)));
    if (is_struct) return put(&map, sizeof map);
    maps_.push_back(std::make_unique<TensorMap>(map));
    return put_address(maps_.back().get());
  }
  const std::size_t colon = argument.find(':');
  if (is_number(argument) || colon != std::string_view::npos) {
    const bool has_type = colon != std::string_view::npos;
    if (is_struct && !has_type) {
      refuse("'{}' in the struct {} needs its type: s32:{}.", argument, parameter, argument);
    }
    const std::string_view own = has_type ? argument.substr(0, colon) : type;
    const std::string_view number = has_type ? argument.substr(colon + 1) : argument;
    const std::uint64_t value = bits_of(number, own);
    return put(&value, find_element(own)->bytes);
  }
  const std::size_t plus = std::min(argument.find('+'), argument.size());
  const Array& named = array(argument.substr(0, plus));
  std::size_t added = 0;
  if (plus < argument.size()) {
    const char* const last = argument.data() + argument.size();
    const auto [rest, error] = std::from_chars(argument.data() + plus + 1, last, added);
    if (error != std::errc() || rest != last || added > named.words().bytes) {
      refuse("'{}' must be ARRAY+BYTES, with at most the {} bytes of it.", argument,
             named.words().bytes);
    }
  }
  put_address(named.data() + added);
}

Report DescribedLaunch::run(const Options& options) {
  printed_.clear();
  std::vector<GlobalRange> ranges;
  for (Array& array : arrays_) {
    array.reset();
    if (array.words().bytes > 0) ranges.push_back(array.range());
  }
  for (const auto& map : maps_) {
    ranges.push_back({map.get(), sizeof(TensorMap), "a tensor map", true, false, true});
  }
  return ptx::run(*code_, request_, ranges, options);
}

}  // namespace tw::vgpu::ptx
