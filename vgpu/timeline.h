// What the roles of a kernel wait for, and when: recorded by the virtual GPU, for any kernel as it
// is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tw::vgpu {

// Times are picoseconds of the machine's model: instructions, copies and products have costs there
// that are plausible, and not those of a GPU.
struct Timeline {
  // A thread that speaks for its role waits.
  struct Wait {
    std::string on;  // "input.full", "wgmma", "barrier 3"
    int stage;       // -1: it has none
    std::uint64_t begin, end;
  };
  struct Track {
    unsigned cta;
    std::string role;
    unsigned thread;
    std::uint64_t begin, end;
    std::vector<Wait> waits;
  };
  // A phase of a named mbarrier completes.
  struct Phase {
    unsigned cta;
    std::string barrier;
    int stage;
    std::uint64_t time;
    unsigned arrivals;    // arrivals that it was made of
    std::uint64_t bytes;  // bytes that it was told to expect
  };
  std::vector<Track> tracks;
  std::vector<Phase> phases;
};

// Runs of the calling std::thread are recorded as long as it lives.
class Recording {
 public:
  explicit Recording(Timeline& timeline);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  Timeline* outer_;
};

}  // namespace tw::vgpu
