#include "src/library/tuning.h"

#include <fmt/format.h>

#include <cstdlib>

#include "src/dispatch/tuning.h"
#include "src/library/failure.h"

namespace tw::library {

namespace {

struct OwnFile {
  std::string path;  // empty: there is none
  MeasuredTable table;
  Status status = Status::good();
};

// Lives as long as the process: threads may still call while it ends.
const OwnFile& own_file() {
  static const OwnFile& file = *[] {
    auto* const read = new OwnFile;
    const char* const path = std::getenv("TW_TUNING");
    if (path != nullptr && *path != 0) {
      read->path = path;
      read->status = read_table(read->table, path);
    }
    return read;
  }();
  return file;
}

}  // namespace

const MeasuredTable* own_table(const Device& device) {
  const OwnFile& file = own_file();
  if (file.path.empty() || device.name == nullptr) return nullptr;
  Status status = file.status;
  if (status.is_good()) status = check_table(file.table, file.path, tw_version(), device.name);
  if (!status.is_good()) throw Failure{TW_INVALID, "TW_TUNING: " + status.sentence()};
  return &file.table;
}

void refuse_instance(const MeasuredLaunch& launch) {
  throw Failure{TW_INVALID, fmt::format("TW_TUNING: The tuning file '{}' has the kernel '{}' for "
                                        "'{}', but this library has no such kernel: ./tw tune "
                                        "makes another file.",
                                        own_file().path, launch.instance, launch.call)};
}

}  // namespace tw::library
