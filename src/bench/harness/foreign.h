// A kernel that is neither ours nor the peer's, as norms and activations follow products.
#pragma once

namespace tw::bench {

// One CTA of one thread, which stores one number. It triggers no launch behind it, and it is
// launched without attributes: what follows begins when it has ended.
void launch_foreign(void* stream);

}  // namespace tw::bench
