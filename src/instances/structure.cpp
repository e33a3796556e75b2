#include "src/instances/structure.h"

#include <map>

namespace tw {

namespace {

std::map<std::string_view, const Structure*>& all() {
  static std::map<std::string_view, const Structure*> known;
  return known;
}

}  // namespace

KnownStructures::KnownStructures(std::initializer_list<KnownStructure> more) {
  for (const KnownStructure& one : more) all()[one.instance] = one.structure;
}

const Structure* structure_named(std::string_view instance) {
  const auto found = all().find(instance);
  return found == all().end() ? nullptr : found->second;
}

}  // namespace tw
