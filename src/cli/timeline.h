// Timelines of runs, on the virtual GPU and on a GPU: for people, for Perfetto, and read again.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tilewright/base/status.h"
#include "vgpu/timeline.h"

namespace tw::cli {

struct RecordedRun {
  std::string title;     // the problem and the instance
  std::string where;     // "the virtual GPU", or the name of a GPU
  bool is_model = true;  // times are those of the virtual GPU's model
  vgpu::Timeline timeline;
};

// What one role of all CTAs did with its time: shares of it.
struct RoleUse {
  std::string role;
  double lasts = 0;                                    // beside the role that lasts longest
  double waits = 0;                                    // altogether
  double for_others = 0;                               // not for the products that it issued itself
  std::vector<std::pair<std::string, double>> causes;  // the longest first
};
std::vector<RoleUse> uses_of(const vgpu::Timeline& timeline);

// A stage of a ring, from the completion of its full barrier to that of its empty one.
struct FullStage {
  unsigned cta;
  std::string ring;  // "input"
  int stage;
  std::uint64_t begin, end;
};
std::vector<FullStage> full_stages(const vgpu::Timeline& timeline);

// How many stages of a ring are full, in the mean over a CTA's time and over CTAs.
struct Occupancy {
  std::string ring;
  unsigned stages = 0;
  double mean = 0;
};
std::vector<Occupancy> occupancies_of(const vgpu::Timeline& timeline);

// Which role sets the pace, if one does. Those that last less than half as long as another do not.
std::string bottleneck(const RecordedRun& run);
// A line for each role, with the share of its time that it waits and what for; one for each ring;
// and the bottleneck.
std::string summary(const RecordedRun& run);

// What roles of the first `ctas` CTAs wait for, and when stages are full.
nlohmann::json perfetto(const RecordedRun& run, unsigned ctas);
// What perfetto() gave, from a file.
Result<RecordedRun> read_run(const std::string& path);

// A page that needs nothing else: runs side by side, with the roles of their first `ctas` CTAs as
// bars, and the numbers behind it as JSON.
std::string html_page(const std::vector<RecordedRun>& runs, unsigned ctas);
// The bars alone, runs one below the other.
std::string svg_picture(const std::vector<RecordedRun>& runs, unsigned ctas);

}  // namespace tw::cli
