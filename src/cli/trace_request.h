// ./tw trace: what the roles of a kernel wait for, on the virtual GPU or on the GPU, and where that
// is written.
#pragma once

#include "src/cli/command.h"
#include "src/cli/described.h"
#include "src/cli/timeline.h"

namespace tw::cli {

struct TraceRequest {
  std::string output;  // for Perfetto; empty: none, or the usual one where no other file is named
  std::string usual_output;  // only its folder is made where it is not there
  std::string html;          // empty: no page
  std::string svg;           // empty: no picture
  std::string beside;        // another instance, or the file of another run; empty: none
  std::string on;            // gpu, virtual; empty: virtual
  unsigned ctas = 16;
  unsigned capacity = 4096;  // acquires kept per role and CTA, on the GPU

  void add_options(CLI::App& command);
  // Throws Refused.
  void run(const Case& made, const vgpu::Options& options, Verdict& verdict) const;

 private:
  // Empty where there is nothing to show: the verdict then says why.
  std::optional<RecordedRun> record(const Case& made, vgpu::Options options,
                                    Verdict& verdict) const;
  std::optional<RecordedRun> record_on_gpu(const Case& made, Verdict& verdict) const;
  // Writes what was recorded, and says in a few lines what it shows.
  void write(const std::vector<RecordedRun>& runs, Verdict& verdict) const;
};

// Whether the file is written; where not, the verdict says it.
bool write_file(const std::string& path, const std::string& text, Verdict& verdict);

// Adds `trace` for described families; timelines that name no file go to `output`.
void add_trace_described(CLI::App& command, const Families& families, const std::string& output,
                         Verdict& verdict);

}  // namespace tw::cli
