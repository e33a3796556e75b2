// The families of the C interface as tw_describe tells them: fields of a problem by offset, with
// their types and ranges.
#pragma once

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tilewright.h"

namespace tw::hostile {

// A member of a problem that is no struct.
struct Field {
  std::string path;  // "matmul.a.row_stride"
  std::string type;
  std::size_t offset;
  // A number whose range the description states: at least `low` and below `limit`.
  std::int64_t low = 0, limit = 0, usual = 0;
  enum class Role { None, Extent, Flag } role = Role::None;

  bool is_address() const { return type == "address"; }
  bool is_real() const { return type == "float"; }
  bool is_wide() const { return type == "int64_t" || type == "uint64_t" || type == "size_t"; }
  std::size_t bytes() const { return is_address() || is_wide() ? 8 : 4; }
  bool ends_in(const std::string& end) const {
    return path.size() >= end.size() &&
           path.compare(path.size() - end.size(), end.size(), end) == 0;
  }
};

struct Tensor {
  bool optional = false, by_columns = false;
  std::vector<std::int64_t> types;
  const Field *data = nullptr, *row_stride = nullptr, *column_stride = nullptr,
              *batch_stride = nullptr, *type = nullptr;
};

struct Family {
  std::string name;
  std::size_t bytes = 0;
  bool is_described = false;
  std::vector<Field> fields;
  std::vector<Tensor> tensors;
  std::vector<std::string> instances;

  Field* at(const nlohmann::json& place) {
    for (Field& field : fields) {
      if (!place.is_null() && field.offset == place.at("offset")) return &field;
    }
    return nullptr;
  }
  const Field* named(const std::string& path) const {
    for (const Field& field : fields) {
      if (field.path == path) return &field;
    }
    return nullptr;
  }
};

inline Family family_of(const std::string& name, const nlohmann::json& types) {
  const auto json = nlohmann::json::parse(tw_describe(name.c_str()));
  Family family;
  family.name = name;
  family.bytes = json.at("bytes");
  family.instances = json.at("instances").get<std::vector<std::string>>();
  family.is_described = json.contains("numbers");
  for (const auto& field : json.at("fields")) {
    family.fields.push_back({field.at("path"), field.at("type"), field.at("offset")});
  }
  if (!family.is_described) return family;
  for (const auto& number : json.at("numbers")) {
    Field* const field = family.at(number.at("field"));
    if (field == nullptr) continue;
    field->low = number.at("low");
    field->limit = number.at("limit");
    field->usual = number.at("usual");
    field->role = number.at("kind") == "flag" ? Field::Role::Flag : Field::Role::Extent;
  }
  for (const auto& given : json.at("tensors")) {
    Tensor tensor;
    tensor.optional = given.at("optional");
    tensor.by_columns = given.at("contiguous") == "columns or rows";
    for (const auto& type : given.at("types")) tensor.types.push_back(types.at(type));
    const auto& fields = given.at("fields");
    const auto field = [&](const char* part) {
      return fields.contains(part) ? family.at(fields.at(part)) : nullptr;
    };
    tensor.data = field("data");
    tensor.row_stride = field("row_stride");
    tensor.column_stride = field("column_stride");
    tensor.batch_stride = field("batch_stride");
    tensor.type = field("type");
    family.tensors.push_back(tensor);
  }
  return family;
}

inline std::vector<Family> all_families() {
  const auto json = nlohmann::json::parse(tw_describe(nullptr));
  std::vector<Family> families;
  for (const auto& name : json.at("families")) {
    families.push_back(family_of(name, json.at("enums").at("tw_type")));
  }
  return families;
}

}  // namespace tw::hostile
