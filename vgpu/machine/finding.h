// What a run of the virtual GPU has to say: findings by checker, and what it could not judge.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tw::vgpu {

enum class Checker : std::uint8_t {
  Race,                 // two accesses to shared memory without order
  GlobalRace,           // two accesses to global memory without order
  ReadBeforeFull,       // bytes of a copy are read by a thread that did not wait for the copy
  OverwriteWhileRead,   // bytes are overwritten before a reader is known to be done
  MissingProxyFence,    // generic writes reach the async proxy without fence.proxy.async
  ArrivalCount,         // more or fewer arrivals than a barrier was told to expect
  TransactionBytes,     // more or fewer bytes than a barrier was told to expect
  PhaseSkipped,         // a barrier went on two phases while a thread waited for the first
  BarrierLife,          // used before init, init not visible, overwritten, or left busy at exit
  Deadlock,             // nothing can run and nothing is left to land
  Livelock,             // threads run on and on without progress
  AccumulatorInFlight,  // registers touched while a wgmma owns them
  OperandInFlight,      // registers of A touched while a wgmma reads them
  MissingWgmmaFence,    // registers touched and then given to wgmma without wgmma.fence
  Bounds,               // an address outside of what it may touch
  Alignment,            // an address or coordinate that the instruction does not accept
  Uninitialised,        // bytes that nobody wrote are read
  InFlightAtExit,       // a CTA ends while copies or products still use its memory
  WrongStep,            // the tensor core read another k-tile than its role expected
  Divergence,           // threads that must agree on an instruction do not
  TensorMemoryLeak,     // a CTA ends with columns of tensor memory allocated
  TensorMemoryBounds,   // tensor memory outside an allocation, or after it was freed
  TensorMemoryLife,     // allocated or freed when that is not allowed, or freed while in use
  TensorMemoryLanes,    // a warp reaches for lanes that are not its quarter
  MissingTensorFence,   // tensor memory handed on without tcgen05.fence before or after the barrier
  CancelAfterFailure,   // launch control is asked again, or for a cluster, after it had none left
  EarlyAccess,          // memory of an earlier grid is touched before griddepcontrol.wait
  RegisterBudget,       // setmaxnreg that can never be granted, or that a warpgroup does not share
  Exception,            // the kernel refused, or threw
};
constexpr unsigned checker_count = static_cast<unsigned>(Checker::Exception) + 1;

// The name in reports and on the command line: "read-before-full".
const char* name_of(Checker checker);

class CheckerSet {
 public:
  constexpr CheckerSet() = default;
  constexpr CheckerSet(std::initializer_list<Checker> checkers) {
    for (Checker checker : checkers) insert(checker);
  }
  constexpr void insert(Checker checker) { bits_ |= 1u << static_cast<unsigned>(checker); }
  constexpr bool contains(Checker checker) const {
    return (bits_ >> static_cast<unsigned>(checker) & 1) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

struct Finding {
  Checker checker;
  std::string name;  // name_of(checker)
  std::string role;  // the thread's that the finding is about; empty if it never said
  int stage = -1;    // the barrier's or the buffer's, -1 if it has none
  std::string text;  // full sentences, with what is needed to replay
};

struct Report {
  enum Verdict { Clean, Found, Incomplete };

  std::vector<Finding> findings;
  std::vector<std::string> incomplete;  // what could not be judged
  std::uint64_t steps = 0;              // instructions and accesses that the machine saw
  std::uint64_t virtual_nanoseconds = 0;

  Verdict verdict() const {
    if (!findings.empty()) return Found;
    return incomplete.empty() ? Clean : Incomplete;
  }
};

}  // namespace tw::vgpu
