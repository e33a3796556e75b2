// tw_describe: what there is, as JSON.
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/library/checks.h"
#include "src/library/described.h"
#include "src/library/failure.h"
#include "src/library/families.h"
#include "src/library/layouts.h"
#include "tilewright/launch/description.h"

namespace tw::library {

namespace {

using Json = nlohmann::ordered_json;
using Bytes = std::vector<std::byte>;

struct Leaf {
  std::string path;  // "matmul.a.row_stride"
  const char* type;
  std::size_t offset, bytes;
};

const StructLayout* struct_named(const std::string& name) {
  for (const StructLayout& layout : struct_layouts()) {
    if (layout.name == name) return &layout;
  }
  return nullptr;
}

// Members that are no structs, of a struct and of those inside of it.
void add_leaves(std::vector<Leaf>& leaves, const StructLayout& layout, const std::string& prefix,
                std::size_t base) {
  for (const MemberLayout& member : layout.members) {
    const StructLayout* const inner = struct_named(member.type);
    if (inner == nullptr) {
      leaves.push_back({prefix + member.name, member.type, base + member.offset, member.bytes});
    } else {
      add_leaves(leaves, *inner, prefix + member.name + ".", base + member.offset);
    }
  }
}

Json layout_json(const StructLayout& layout) {
  Json members = Json::array();
  for (const MemberLayout& member : layout.members) {
    members.push_back({{"name", member.name},
                       {"type", member.type},
                       {"offset", member.offset},
                       {"bytes", member.bytes}});
  }
  return {{"bytes", layout.bytes}, {"members", members}};
}

// Where a field lies shows where its setter writes: a description says how to set a field of a
// problem, and the header what lies there.
class Prober {
 public:
  Prober(const Description& description, const std::vector<Leaf>& leaves)
      : description_(description), leaves_(leaves) {}

  template <class Set>
  std::optional<Leaf> written_by(const Set& set) const {
    Bytes problem(description_.size);
    set(static_cast<void*>(problem.data()));
    for (std::size_t at = 0; at < problem.size(); ++at) {
      if (problem[at] != std::byte{0}) return leaf_at(at);
    }
    return std::nullopt;
  }

  Leaf leaf_at(std::size_t offset) const {
    for (const Leaf& leaf : leaves_) {
      if (offset >= leaf.offset && offset < leaf.offset + leaf.bytes) return leaf;
    }
    return {"", "", offset, 0};
  }

  // Every number has a value of its own, rising or falling from number to number: an extent that is
  // one of them is then known by its value.
  Bytes with_numbers(const Family& family, std::int64_t value, std::int64_t step) const {
    Bytes problem(description_.size);
    library::initialise(*family.description, problem.data());
    for (const IntegerField& number : description_.numbers) {
      if (is_free(number)) number.set(problem.data(), value += step);
    }
    return problem;
  }
  // The name of the number that an extent is, the extent where it is always the same, or null.
  Json extent_name(std::int64_t one, std::int64_t other, const Bytes& first,
                   const Bytes& second) const {
    for (const IntegerField& number : description_.numbers) {
      if (is_free(number) && number.get(first.data()) == one &&
          number.get(second.data()) == other) {
        return number.name;
      }
    }
    return one == other ? Json(one) : Json();
  }

 private:
  static bool is_free(const IntegerField& number) {
    return number.kind != IntegerField::Kind::Flag && number.limit > 1 << 20;
  }
  const Description& description_;
  const std::vector<Leaf>& leaves_;
};

Json place_json(const std::optional<Leaf>& leaf) {
  if (!leaf.has_value()) return {};
  if (leaf->bytes == 0) return {{"offset", leaf->offset}};
  return {{"path", leaf->path}, {"type", leaf->type}, {"offset", leaf->offset}};
}

Json number_json(const IntegerField& number, const Prober& prober) {
  using Kind = IntegerField::Kind;
  return {{"name", number.name},
          {"meaning", number.meaning},
          {"kind", number.kind == Kind::Flag      ? "flag"
                   : number.kind == Kind::Choice  ? "choice"
                   : number.kind == Kind::Derived ? "derived"
                                                  : "extent"},
          {"words", std::vector<std::string>(number.words.begin(), number.words.end())},
          {"low", number.low},
          {"limit", number.limit},
          {"initial", number.initial},
          {"usual", number.usual},
          {"field", place_json(prober.written_by(
                        [&](void* problem) { number.set(problem, std::int64_t{-1}); }))}};
}

const char* type_name(int value) {
  for (const EnumLayout& one : enum_layouts()) {
    if (std::strcmp(one.name, "tw_type") != 0) continue;
    for (const Enumerator& type : one.values) {
      if (type.value == value) return type.name;
    }
  }
  return nullptr;
}

Json tensor_json(const TensorField& tensor, const Prober& prober, const Bytes& first,
                 const Bytes& second) {
  Json types = Json::array();
  for (int type = 0; type_name(type) != nullptr; ++type) {
    if (tensor.types.has(static_cast<ElementType>(type))) types.push_back(type_name(type));
  }
  Json fields = Json::object();
  const auto add = [&](const char* name, const tw_matrix& matrix) {
    const auto leaf = prober.written_by([&](void* problem) { tensor.set(problem, matrix); });
    if (leaf.has_value()) fields[name] = place_json(leaf);
  };
  const tw_type no_type = TW_BF16;  // which is 0
  add("data", {reinterpret_cast<void*>(~std::uintptr_t{0}), 0, 0, 0, no_type});
  add("row_stride", {nullptr, -1, 0, 0, no_type});
  add("column_stride", {nullptr, 0, -1, 0, no_type});
  add("batch_stride", {nullptr, 0, 0, -1, no_type});
  add("type", {nullptr, 0, 0, 0, TW_FP16});
  const TensorExtents one = tensor.extents(first.data()), other = tensor.extents(second.data());
  using Lines = TensorField::Lines;
  return {{"name", tensor.name},
          {"title", tensor.title},
          {"flow", tensor.flow == TensorField::Flow::Read ? "read" : "written"},
          {"optional", tensor.present != nullptr},
          {"contiguous", tensor.lines == Lines::Rows            ? "rows"
                         : tensor.lines == Lines::RowsOrColumns ? "rows or columns"
                                                                : "columns or rows"},
          {"types", types},
          {"usual_type", type_name(static_cast<int>(tensor.types.usual))},
          {"extents",
           {{"batch", prober.extent_name(one.batch, other.batch, first, second)},
            {"rows", prober.extent_name(one.rows, other.rows, first, second)},
            {"columns", prober.extent_name(one.columns, other.columns, first, second)}}},
          {"fields", fields}};
}

void add_description(Json& json, const Family& family, const std::vector<Leaf>& leaves) {
  const Description& description = *family.description;
  const Prober prober(description, leaves);
  json["meaning"] = description.meaning;
  json["numbers"] = Json::array();
  for (const IntegerField& number : description.numbers) {
    json["numbers"].push_back(number_json(number, prober));
  }
  json["reals"] = Json::array();
  for (const RealField& real : description.reals) {
    json["reals"].push_back({{"name", real.name},
                             {"meaning", real.meaning},
                             {"initial", real.usual},
                             {"field", place_json(prober.written_by(
                                           [&](void* problem) { real.set(problem, -1.0); }))}});
  }
  const Bytes first = prober.with_numbers(family, 1009, 101),
              second = prober.with_numbers(family, 100003, -1009);
  json["tensors"] = Json::array();
  for (const TensorField& tensor : description.tensors) {
    json["tensors"].push_back(tensor_json(tensor, prober, first, second));
  }
  if (const ProductField* const product = description.product) {
    const auto base = reinterpret_cast<std::uintptr_t>(first.data());
    const auto epilogue = reinterpret_cast<std::uintptr_t>(&product->epilogue(first.data()));
    json["product"] = {{"a", description.tensors[product->a].name},
                       {"b", description.tensors[product->b].name},
                       {"d", description.tensors[product->d].name},
                       {"epilogue", {{"type", "tw_epilogue"}, {"offset", epilogue - base}}}};
  }
  json["lists"] = Json::array();
  for (const ListField& list : description.lists) {
    json["lists"].push_back(
        {{"name", list.name}, {"meaning", list.meaning}, {"usual", list.usual}});
  }
}

Json describe(const Family& family) {
  const std::string struct_name = std::string("tw_") + family.name() + "_problem";
  const StructLayout* const layout = struct_named(struct_name);
  Json json = {
      {"family", family.name()}, {"problem", struct_name}, {"bytes", family.description->size}};
  json["fields"] = Json::array();
  // A plug-in's problem has no layout here: then fields are known by their offsets alone.
  std::vector<Leaf> leaves;
  if (layout != nullptr) add_leaves(leaves, *layout, "", 0);
  for (const Leaf& leaf : leaves) json["fields"].push_back(place_json(leaf));
  add_description(json, family, leaves);
  json["instances"] = Json::array();
  for (const Instance& instance : family.instances()) json["instances"].push_back(instance.name);
  return json;
}

Json describe_all() {
  load_named_plugins();
  Json json = {{"version", tw_version()}};
  json["families"] = Json::array();
  for (const Family* family : families()) json["families"].push_back(family->name());
  for (const EnumLayout& one : enum_layouts()) {
    Json& values = json["enums"][one.name] = Json::object();
    for (const Enumerator& enumerator : one.values) values[enumerator.name] = enumerator.value;
  }
  for (const StructLayout& layout : struct_layouts()) {
    json["structs"][layout.name] = layout_json(layout);
  }
  return json;
}

}  // namespace

void tell_extents(std::span<std::int64_t> extents, const Family& family, const void* problem) {
  const Description& description = *family.description;
  check_size("problem", problem, stated_size(problem), description.size, "tw_init");
  const std::size_t count = description.tensors.size();
  if (extents.size() != 3 * count) {
    throw Failure{TW_INVALID, sentence("{} has {} tensors, but there is room for {}.",
                                       family.name(), count, extents.size() / 3)};
  }
  const Status status = check_stated(description, problem);
  if (!status.is_good()) throw Failure{TW_INVALID, status.sentence()};
  auto next = extents.begin();
  for (const TensorField& tensor : description.tensors) {
    TensorExtents told = {};
    if (detail::is_present(tensor, problem)) told = tensor.extents(problem);
    for (const std::int64_t extent : {told.batch, told.rows, told.columns}) *next++ = extent;
  }
}

}  // namespace tw::library

extern "C" const char* tw_describe(const char* family) {
  using namespace tw::library;
  // They live as long as the process.
  static auto& mutex = *new std::mutex;
  static auto& texts = *new std::map<std::string, std::string>;
  const char* result = nullptr;
  guarded([&] {
    const Family* const found = family == nullptr ? nullptr : &family_named(family);
    const std::lock_guard lock(mutex);
    // Plug-ins that are loaded later make another text.
    std::string& text = texts[found == nullptr ? std::to_string(families().size()) : found->name()];
    if (text.empty()) text = (found == nullptr ? describe_all() : describe(*found)).dump();
    result = text.c_str();
  });
  return result;
}
