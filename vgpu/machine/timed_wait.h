// How a run writes its timeline; nothing where nobody records.
#pragma once

#include "vgpu/machine/engine.h"
#include "vgpu/machine/mbarrier.h"
#include "vgpu/timeline.h"

namespace tw::vgpu {

Timeline* recorded_timeline();  // what the calling std::thread records into; null: nobody records

// From here to the end of the scope the running thread waits.
class TimedWait {
 public:
  // `on` outlives the run.
  TimedWait(Engine& machine, const char* on, int stage = -1)
      : machine_(machine), on_(on), stage_(stage), begin_(machine.current().time) {}
  ~TimedWait() {
    if (machine_.timeline != nullptr) write();
  }
  TimedWait(const TimedWait&) = delete;
  TimedWait& operator=(const TimedWait&) = delete;

 private:
  void write() const;

  Engine& machine_;
  const char* on_;
  int stage_;
  std::uint64_t begin_;
};

void record_end(Timeline& timeline, const Thread& thread);
// The phase that is about to end.
void record_phase(Timeline& timeline, const Mbarrier& barrier);

}  // namespace tw::vgpu
