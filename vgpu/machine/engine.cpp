#include "vgpu/machine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <exception>
#include <utility>

#include "tilewright/base/require.h"
#include "vgpu/machine/global_access.h"
#include "vgpu/machine/timed_wait.h"
#include "vgpu/machine/watch.h"

namespace tw::vgpu {
namespace {

namespace context = boost::context::detail;

constexpr std::uint64_t instruction_picoseconds = 2000;
constexpr std::uint64_t livelock_steps = 30'000'000;

thread_local Engine* current_engine = nullptr;

// The run that the std::thread is in; whatever ends it, the run around it goes on.
class Entered {
 public:
  explicit Entered(Engine& engine)
      : outer_(std::exchange(current_engine, &engine)),
        observer_(std::exchange(access_observer, &element_observer)) {}
  ~Entered() {
    access_observer = observer_;
    current_engine = outer_;
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  Engine* outer_;
  const AccessObserver* observer_;
};

// Runs of one std::thread share stacks: mapping them costs more than a small run.
StackPool& stacks() {
  thread_local StackPool pool;
  return pool;
}

}  // namespace

Engine& engine() { return *current_engine; }
Engine* running_engine() { return current_engine; }

Engine::Engine(const Launch& launch_, std::span<const GlobalRange> memory, const Options& options_)
    : launch(launch_),
      options(options_),
      findings(options_),
      global(memory, options_.check),
      order(options_.check),
      timeline(recorded_timeline()),
      step(options_.steps != nullptr),
      schedule_(options_),
      multiprocessors_(std::max(options_.sm_count, launch_.cluster_size)) {
  [[maybe_unused]] static const Frames first_call = current_frames();
  for (Multiprocessor& multiprocessor : multiprocessors_) {
    idle_multiprocessors_.push_back(&multiprocessor);
  }
}

Engine::~Engine() {
  PendingLanding landing;
  while (schedule_.take_landing(nullptr, landing)) discard(landing);
  for (auto& cluster : resident_) {
    for (auto& cta : cluster->ctas) {
      for (Thread& thread : cta->threads) {
        if (thread.stack.top != nullptr) stacks().give_back(thread.stack);
      }
    }
  }
}

// Runs on the fiber's own stack; the thread's body must not let an exception leave it.
void fiber_main_of(Engine& engine, Thread& thread) {
  try {
    engine.launch.thread_body();
  } catch (const std::exception& exception) {
    engine.report_exception(exception.what());
  } catch (...) {
    engine.report_exception("of an unknown type.");
  }
  engine.finish(thread);
}

void Engine::report_exception(const std::string& what) {
  // vgpu/data says so of what a GPU might do and the model cannot: that is no finding.
  if (what.find("unsupported") != std::string::npos) {
    findings.add_incomplete(fmt::format("The {} stopped: {}", who(*current_), what));
  } else {
    report(Checker::Exception, -1, nullptr,
           [&] { return fmt::format("The {} ended with an exception: {}", who(*current_), what); });
  }
  abandon();
}

namespace {

void fiber_entry(context::transfer_t transfer) {
  auto* scheduler_context = static_cast<void**>(transfer.data);
  *scheduler_context = transfer.fctx;
  fiber_main_of(engine(), engine().current());
}

}  // namespace

void Engine::start_cluster() {
  auto cluster = std::make_unique<Cluster>();
  for (unsigned rank = 0; rank < launch.cluster_size; ++rank) {
    const unsigned index = next_cluster_ * launch.cluster_size + rank;
    cluster->ctas.push_back(make_cta(*cluster, index, rank, launch.threads, launch.lanes,
                                     launch.shared_bytes, *idle_multiprocessors_.back(),
                                     options.check));
    idle_multiprocessors_.pop_back();
    cluster->live_threads += launch.threads;
  }
  order.start(*cluster);
  for (auto& cta : cluster->ctas) {
    for (Thread& thread : cta->threads) {
      thread.stack = stacks().take();
      // An interpreter has the registers and variables of its threads elsewhere.
      if (!launch.site) poison_stack(thread.stack);
      thread.context = context::make_fcontext(thread.stack.top, thread.stack.bytes, fiber_entry);
      step.process(TouchKind::Writes, thread.process().id());
      schedule_.add_ready(thread);
    }
  }
  ++next_cluster_;
  resident_.push_back(std::move(cluster));
}

void Engine::admit_clusters() {
  const unsigned clusters = launch.ctas / launch.cluster_size;
  while (next_cluster_ < clusters && idle_multiprocessors_.size() >= launch.cluster_size) {
    start_cluster();
  }
}

bool Engine::cancel_cluster(unsigned& first_cta) {
  if (next_cluster_ == launch.ctas / launch.cluster_size) return false;
  first_cta = next_cluster_++ * launch.cluster_size;
  return true;
}

void Engine::run_threads() {
  const Entered entered(*this);
  const Watch watch(*this, options.stall_seconds);
  admit_clusters();
  (void)step.take();
  Schedule::Choice choice;
  while (!stopped_ && !resident_.empty()) {
    if (!schedule_.choose(choice)) {
      if (wake_reached(*this)) continue;
      report_deadlock(*this, resident_);
      stopped_ = true;
    } else if (options.steps != nullptr) {
      take_step(choice);
    } else if (choice.thread != nullptr) {
      resume(*choice.thread);
    } else {
      land(choice.landing);
    }
  }
}

void Engine::take_step(const Schedule::Choice& choice) {
  if (choice.thread != nullptr) {
    Thread& thread = *choice.thread;
    thread.wait = {};
    thread.may_go = nullptr;
    step.process(TouchKind::Reads, thread.process().id());
    step.set_untold(std::exchange(thread.sleeps_untold, false));
    resume(thread);
  } else {
    landing_ = choice.landing.process;
    step.begin_instruction();
    step.process(TouchKind::Reads, landing_.id());
    step.exit_of(TouchKind::Reads, choice.landing.cluster->index());
    land(choice.landing);
  }
  options.steps->stepped(step.take());
}

Report Engine::run() {
  run_threads();
  if (stopped_ && findings.report().verdict() == Report::Clean) {
    findings.add_incomplete("The run stopped early: a checker that is switched off ended it.");
  }
  Report& report = findings.finished();
  report.steps = steps_;
  report.virtual_nanoseconds = end_time_ / 1000;
  return std::move(report);
}

void Engine::resume(Thread& thread) {
  current_ = &thread;
  thread.state = ThreadState::Running;
  slice_ = findings.full() ? 0 : schedule_.draw_time_slice();
  const context::transfer_t transfer = context::jump_fcontext(thread.context, &scheduler_context_);
  current_ = nullptr;
  thread.context = transfer.fctx;
  if (thread.state != ThreadState::Finished) return;
  stacks().give_back(std::exchange(thread.stack, {}));
  Cluster& cluster = *thread.cta->cluster;
  if (cluster.live_threads == 0) retire(cluster);
}

void Engine::switch_out() {
  scheduler_context_ = context::jump_fcontext(scheduler_context_, nullptr).fctx;
}

Thread& Engine::enter() {
  Thread& thread = *current_;
  thread.time += instruction_picoseconds;
  ++steps_;
  if (slice_ == 0) give_way();
  --slice_;
  return thread;
}

void Engine::give_way() {
  if (findings.full()) {
    findings.add_incomplete(
        fmt::format("The run stopped after {} findings; there may be more.", options.max_findings));
    abandon();
  }
  if (steps_ > options.max_steps || steps_ - progress_steps_ > livelock_steps) {
    report(Checker::Livelock, -1, nullptr, [&] {
      return fmt::format(
          "After {} instructions, {} of them without a landing, a completed barrier or a write to "
          "global memory, threads still run; the {} was the last of them.",
          steps_, steps_ - progress_steps_, who(*current_));
    });
    abandon();
  }
  current_->state = ThreadState::Ready;
  schedule_.add_ready(*current_);
  switch_out();
  if (step.is_on()) {
    slice_ = 1;
    step.begin_instruction();
  }
}

Thread& Engine::enter_when(Wait wait, const Touch& awaits, std::function<bool()> may_go) {
  if (!step.is_on()) return enter();
  Thread& thread = *current_;
  thread.time += instruction_picoseconds;
  ++steps_;
  thread.state = ThreadState::Sleeping;
  thread.wait = wait;
  thread.awaits = awaits;
  thread.may_go = std::move(may_go);
  schedule_.add_ready(thread);
  switch_out();
  step.begin_instruction();
  return thread;
}

void Engine::abandon() {
  stopped_ = true;
  for (;;) switch_out();
}

void Engine::tick() {
  if (current_ == nullptr || current_ != ticked_thread_ || steps_ != ticked_steps_) {
    ticked_thread_ = current_;
    ticked_steps_ = steps_;
    return;
  }
  report(Checker::Livelock, -1, nullptr, [&] {
    return fmt::format(
        "The {} has run for {} s of processor time without an instruction that the model knows. A "
        "loop that waits for memory must read it through a tensor or an instruction.",
        who(*current_), options.stall_seconds);
  });
  abandon();
}

void Engine::fault(const std::byte* address) {
  if (current_ == nullptr) return;
  const Stack& stack = current_->stack;
  const std::byte* const bottom = stack.top - stack.bytes;
  if (address >= bottom || address < bottom - stack.guard_bytes) return;
  report(Checker::Exception, -1, nullptr, [&] {
    return fmt::format(
        "The {} needs more than the {} KiB of stack that a thread has here: its frames are too "
        "large, or it calls itself too often.",
        who(*current_), stack.bytes >> 10);
  });
  abandon();
}

void Engine::sleep(WaitList& list, Wait wait) {
  Thread& thread = *current_;
  thread.state = ThreadState::Sleeping;
  thread.wait = wait;
  thread.sleeps_untold = step.is_untold();
  thread.next_waiter = nullptr;
  (list.first == nullptr ? list.first : list.last->next_waiter) = &thread;
  list.last = &thread;
  switch_out();
}

void Engine::wake(Thread& thread, std::uint64_t time) {
  thread.time = std::max(thread.time, time);
  thread.wait = {};
  thread.state = ThreadState::Ready;
  step.process(TouchKind::Writes, thread.process().id());
  schedule_.add_ready(thread);
}

void Engine::wake_all(WaitList& list, std::uint64_t time) {
  for (Thread* thread = list.first; thread != nullptr;) {
    Thread* next = thread->next_waiter;
    wake(*thread, time);
    thread = next;
  }
  list = {};
}

void Engine::submit(LandingKind kind, Cluster& cluster, void* operation) {
  // What a landing submits is told apart from it, for each submits one at most.
  constexpr std::uint32_t submitted_by_landing = 1u << 20;
  PendingLanding landing = {kind, &cluster, operation};
  if (step.is_on()) {
    landing.process = current_ == nullptr
                          ? Process{landing_.thread, landing_.landing + submitted_by_landing}
                          : Process{current_->process().thread, ++current_->submitted};
    step.process(TouchKind::Writes, landing.process.id());
  }
  schedule_.add_landing(landing);
  if (step.is_on() || options.landing != Landing::Eager || current_ == nullptr) return;
  current_->state = ThreadState::Ready;
  schedule_.add_ready_first(*current_);
  switch_out();
}

void Engine::land(const PendingLanding& landing) {
  made_progress();
  switch (landing.kind) {
    case LandingKind::Load: return land_load(*this, landing.operation);
    case LandingKind::StoreRead: return land_store_read(*this, landing.operation);
    case LandingKind::StoreWrite: return land_store_write(*this, landing.operation);
    case LandingKind::Wgmma: return land_wgmma(*this, landing.operation);
    case LandingKind::ThreadCopies: return land_thread_copies(*this, landing.operation);
    case LandingKind::StoreAsync: return land_store_async(*this, landing.operation);
    case LandingKind::SharedCopy: return land_shared_copy(*this, landing.operation);
    case LandingKind::TensorPipeline: return land_tensor_pipeline(*this, landing.operation);
    case LandingKind::TensorAccess: return land_tensor_access(*this, landing.operation);
    case LandingKind::Cancel: return land_cancel(*this, landing.operation);
    case LandingKind::WaveLoad: return land_wave_load(*this, landing.operation);
  }
}

void Engine::finish(Thread& thread) {
  if (step.is_on()) {
    enter();
    step.tells();
    step.exit_of(TouchKind::Adds, thread.cta->cluster->index());
  }
  made_progress();
  thread.state = ThreadState::Finished;
  Cta& cta = *thread.cta;
  thread.warp->finished |= lane_bit(thread.lane);
  end_time_ = std::max(end_time_, thread.time);
  if (timeline != nullptr) record_end(*timeline, thread);
  cta.multiprocessor->time = std::max(cta.multiprocessor->time, thread.time);
  --cta.live_threads;
  --cta.cluster->live_threads;
  leave_cluster_barrier(*this, thread);
  if (cta.exited()) check_exit(*this, cta);
  for (;;) switch_out();
}

void Engine::retire(Cluster& cluster) {
  PendingLanding landing;
  while (schedule_.take_landing(&cluster, landing)) {
    step.everything();
    land(landing);
  }
  for (auto& cta : cluster.ctas) {
    idle_multiprocessors_.push_back(cta->multiprocessor);
    // The next CTA has its shared memory there.
    std::erase_if(global_counters, [&](const auto& known) {
      return lies_in(reinterpret_cast<const std::byte*>(known.first), 4, cta->shared.get(),
                     cta->shared_bytes);
    });
  }
  const auto gone = std::find_if(resident_.begin(), resident_.end(),
                                 [&](const auto& known) { return known.get() == &cluster; });
  resident_.erase(gone);
  admit_clusters();
}

SharedPlace Engine::resolve(SharedAddress address, std::uint32_t bytes, const char* instruction) {
  Cta& own = *current_->cta;
  const unsigned rank = address >> window_rank_shift;
  const SharedAddress in_window = address & window_offset_mask;
  const std::uint32_t offset = in_window - window_begin;
  if (rank < own.cluster->ctas.size() && in_window >= window_begin &&
      std::uint64_t{offset} + bytes <= own.shared_bytes) {
    return {own.cluster->ctas[rank].get(), offset};
  }
  report(Checker::Bounds, -1, instruction, [&] {
    return fmt::format(
        "The {} gives {} the shared address {:#x} with {} bytes; the CTA's {} bytes of shared "
        "memory begin at {:#x}.",
        who(*current_), instruction, address, bytes, own.shared_bytes, window_begin);
  });
  abandon();
}

SharedPlace Engine::resolve_own(SharedAddress address, std::uint32_t bytes,
                                const char* instruction) {
  const SharedPlace place = resolve(address, bytes, instruction);
  if (place.cta == current_->cta) return place;
  report(Checker::Bounds, place_stage(*place.cta, place.offset), instruction, [&] {
    return fmt::format(
        "The {} gives {} an address in the CTA of rank {} ({}), but the instruction only reaches "
        "the own CTA.",
        who(*current_), instruction, place.cta->rank, place_name(*place.cta, place.offset));
  });
  abandon();
}

bool Engine::is_local(const void* address) const {
  if (!stacks().holds(address)) return false;
  // Stacks of a run around this one hold what its kernels get as parameters.
  const auto* const byte = static_cast<const std::byte*>(address);
  const auto owns = [&](const Thread& thread) {
    return byte < thread.stack.top && byte >= thread.stack.top - thread.stack.bytes;
  };
  const auto& ctas = current_->cta->cluster->ctas;
  return std::any_of(ctas.begin(), ctas.end(), [&](const auto& cta) {
    return std::any_of(cta->threads.begin(), cta->threads.end(), owns);
  });
}

Report run(const Launch& launch, std::span<const GlobalRange> memory, const Options& options) {
  require(launch.threads >= 1 && launch.threads <= 1024, "A CTA has 1 to 1024 threads.");
  require(launch.lanes == 32 || launch.lanes == 64 || launch.lanes == 1,
          "A warp has 32 or 64 lanes, or 1 where every role is a thread.");
  require(launch.lanes != 1 || launch.threads <= 32, "A CTA has at most 32 warps of one lane.");
  require(launch.cluster_size >= 1 && launch.cluster_size <= 16, "A cluster has 1 to 16 CTAs.");
  require(launch.ctas % launch.cluster_size == 0, "The grid must consist of whole clusters.");
  require(launch.shared_bytes <= 227 << 10, "A CTA has at most 227 KiB of shared memory.");
  if (options.instead) {
    Options others = options;
    others.instead = {};
    return options.instead(launch, memory, others);
  }
  return Engine(launch, memory, options).run();
}

}  // namespace tw::vgpu
