// The virtual GPU: runs a kernel, compiled as plain C++, on a model of the machine. Every GPU
// thread is a fiber; copies and matrix products land when the landing policy says so. One run is
// single-threaded and a function of its arguments; runs on different std::threads do not meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "vgpu/machine/finding.h"

namespace tw::vgpu {

struct Launch;
struct GlobalRange;
struct Options;
class StepChooser;

// When the effects of asynchronous instructions come true.
enum class Landing : std::uint8_t {
  Eager,        // at once
  Lazy,         // when nothing else can run, oldest first
  Random,       // at any time, in any order; threads are preempted
  Adversarial,  // at the last moment, newest first, with some warps starved
};
const char* name_of(Landing landing);

struct Options {
  unsigned sm_count = 4;
  Landing landing = Landing::Random;
  std::uint64_t seed = 1;
  bool check = true;         // false: no happens-before and no shadow memory, for speed
  CheckerSet disabled = {};  // findings of these are dropped
  // Compilers leave out what hardware does without: a barrier alone orders the init of an mbarrier
  // before copies of the same CTA; threads that store the same bytes to one place do not race; what
  // threads wrote before a barrier may be overwritten by copies behind it. docs/hardware.md says
  // who relies on it.
  bool relaxed = false;
  unsigned max_findings = 10;
  std::uint64_t max_steps = std::uint64_t{1} << 33;
  // A thread that runs so many seconds of processor time, twice, without an instruction is stopped;
  // 0: none is.
  unsigned stall_seconds = 5;
  // Runs the launch in place of its thread_body: from the kernel's PTX, say. It gets these options
  // without itself.
  std::function<Report(const Launch&, std::span<const GlobalRange>, const Options&)> instead = {};
  // Decides every single step in place of landing and seed; null: nobody does.
  StepChooser* steps = nullptr;
};

struct Launch {
  unsigned ctas = 1;
  unsigned cluster_size = 1;
  unsigned threads = 128;
  std::size_t shared_bytes = 0;
  std::function<void()> thread_body;
  unsigned lanes = 32;  // lanes a warp has: 32 or 64, or 1 for protocols of single threads
  // The grid may start while the grid before it still runs (programmatic stream serialisation).
  bool dependent_launch = false;
  unsigned registers = 0;  // a thread's at the launch, before setmaxnreg shifts them; 0: unknown
  // Where in its text the running thread is, for programs that have no frames of the host: findings
  // say it. Empty: the frames tell.
  std::function<std::string()> place = {};
  // The same for accesses that others may meet later: a number from 1 to 16383 of where the running
  // thread is, or 0, and what findings say of such a number.
  std::function<unsigned()> site = {};
  std::function<std::string(unsigned)> place_of_site = {};
  // The bytes that the kernel gets, for who runs another text of it. Empty: nobody has said.
  std::span<const std::byte> parameters = {};
};

// Memory outside the machine that a kernel may touch; everything else is out of bounds.
struct GlobalRange {
  const void* begin;
  std::size_t bytes;
  const char* name;
  bool initialised = true;
  bool writable = true;
  bool constant = false;  // no grid that may still run writes it
};

Report run(const Launch& launch, std::span<const GlobalRange> memory, const Options& options);

}  // namespace tw::vgpu
