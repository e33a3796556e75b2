#include "vgpu/machine/watch.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <mutex>

#include "vgpu/machine/engine.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace tw::vgpu {
namespace {

constexpr int tick_signal = SIGVTALRM;
constexpr std::size_t signal_stack_bytes = 128 << 10;

// Handlers are the process's: the first watch installs them, the last puts the old ones back.
std::mutex mutex;
unsigned watches = 0;
struct sigaction before_ticks, before_faults;
void on_tick(int signal, siginfo_t* info, void* context) {
  // A tick carries its engine; that of a run around the running one says nothing about it.
  Engine* const engine = running_engine();
  if (engine != nullptr && info->si_code == SI_TIMER && info->si_value.sival_ptr == engine) {
    engine->tick();
  } else if ((before_ticks.sa_flags & SA_SIGINFO) != 0) {
    before_ticks.sa_sigaction(signal, info, context);
  } else if (before_ticks.sa_handler != SIG_DFL && before_ticks.sa_handler != SIG_IGN) {
    before_ticks.sa_handler(signal);
  }
}

// It runs on a stack of its own: the thread's is full.
void on_fault(int, siginfo_t* info, void*) {
  Engine* const engine = running_engine();
  if (engine != nullptr) engine->fault(static_cast<std::byte*>(info->si_addr));
  // Not ours: what faulted is executed again, and goes to who was there before.
  sigaction(SIGSEGV, &before_faults, nullptr);
}

void install(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  // Handlers may leave by a switch of stacks, so that no signal may stay blocked behind them.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, &before);
}

std::byte* signal_stack() {
  thread_local const std::unique_ptr<std::byte[]> stack(new std::byte[signal_stack_bytes]);
  return stack.get();
}

}  // namespace

Watch::Watch(Engine& engine, unsigned seconds) {
  {
    const std::lock_guard lock(mutex);
    if (watches++ == 0) {
      install(tick_signal, on_tick, before_ticks);
      install(SIGSEGV, on_fault, before_faults);
    }
  }
  stack_t before = {};
  sigaltstack(nullptr, &before);
  if ((before.ss_flags & SS_DISABLE) != 0) {
    stack_t own = {};
    own.ss_sp = signal_stack();
    own.ss_size = signal_stack_bytes;
    has_stack_ = sigaltstack(&own, nullptr) == 0;
  }
  if (seconds == 0) return;
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = tick_signal;
  event.sigev_value.sival_ptr = &engine;
  event.sigev_notify_thread_id = static_cast<int>(syscall(SYS_gettid));
  has_timer_ = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
  const struct itimerspec every = {{static_cast<time_t>(seconds), 0},
                                   {static_cast<time_t>(seconds), 0}};
  if (has_timer_) timer_settime(timer_, 0, &every, nullptr);
}

Watch::~Watch() {
  if (has_timer_) timer_delete(timer_);
  if (has_stack_) {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  const std::lock_guard lock(mutex);
  if (--watches > 0) return;
  sigaction(tick_signal, &before_ticks, nullptr);
  sigaction(SIGSEGV, &before_faults, nullptr);
}

}  // namespace tw::vgpu
