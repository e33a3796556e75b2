#include "src/dispatch/measured.h"

namespace tw {

std::vector<const MeasuredLaunch*> measured_launches(const std::string& call,
                                                     const DispatchRequest& request) {
  std::vector<const MeasuredLaunch*> found;
  if (call.empty() || !request.by_table || request.device == nullptr ||
      request.instance != nullptr) {
    return found;
  }
  const auto search = [&](const MeasuredTable& table) {
    for (const MeasuredLaunch& known : table.launches) {
      if (known.call == call) found.push_back(&known);
    }
  };
  if (request.own_table != nullptr) search(*request.own_table);
  for (const MeasuredTable& table : compiled_tables()) {
    if (std::string_view(request.device).starts_with(table.device)) search(table);
  }
  return found;
}

}  // namespace tw
