#include "vgpu/machine/finding.h"

namespace tw::vgpu {

const char* name_of(Checker checker) {
  switch (checker) {
    case Checker::Race: return "race";
    case Checker::GlobalRace: return "global-race";
    case Checker::ReadBeforeFull: return "read-before-full";
    case Checker::OverwriteWhileRead: return "overwrite-while-read";
    case Checker::MissingProxyFence: return "missing-proxy-fence";
    case Checker::ArrivalCount: return "arrival-count";
    case Checker::TransactionBytes: return "transaction-bytes";
    case Checker::PhaseSkipped: return "phase-skipped";
    case Checker::BarrierLife: return "barrier-life";
    case Checker::Deadlock: return "deadlock";
    case Checker::Livelock: return "livelock";
    case Checker::AccumulatorInFlight: return "accumulator-in-flight";
    case Checker::OperandInFlight: return "operand-in-flight";
    case Checker::MissingWgmmaFence: return "missing-wgmma-fence";
    case Checker::Bounds: return "bounds";
    case Checker::Alignment: return "alignment";
    case Checker::Uninitialised: return "uninitialised";
    case Checker::InFlightAtExit: return "in-flight-at-exit";
    case Checker::WrongStep: return "wrong-step";
    case Checker::Divergence: return "divergence";
    case Checker::TensorMemoryLeak: return "tensor-memory-leak";
    case Checker::TensorMemoryBounds: return "tensor-memory-bounds";
    case Checker::TensorMemoryLife: return "tensor-memory-life";
    case Checker::TensorMemoryLanes: return "tensor-memory-lanes";
    case Checker::MissingTensorFence: return "missing-tensor-fence";
    case Checker::CancelAfterFailure: return "cancel-after-failure";
    case Checker::EarlyAccess: return "early-access";
    case Checker::RegisterBudget: return "register-budget";
    case Checker::Exception: return "exception";
  }
  return "unknown";
}

}  // namespace tw::vgpu
