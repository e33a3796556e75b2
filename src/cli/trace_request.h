// ./tw trace: where a timeline is written.
#pragma once

#include "src/cli/command.h"
#include "src/cli/described.h"
#include "vgpu/timeline.h"

namespace tw::cli {

struct TraceRequest {
  std::string output;  // for Perfetto
  std::string html;    // empty: no page
  unsigned ctas = 16;

  void add_options(CLI::App& command);
  // Writes what was recorded, and says in a few lines what it shows.
  void write(const vgpu::Timeline& timeline, const std::string& title, Verdict& verdict) const;
};

// Whether the file is written; where not, the verdict says it.
bool write_file(const std::string& path, const std::string& text, Verdict& verdict);

// Of described families, on the virtual GPU; `output` is where timelines go that name no file.
void add_trace_described(CLI::App& command, const Families& families, const std::string& output,
                         Verdict& verdict);

}  // namespace tw::cli
