"""Bugs of the kernels between products of a layer: sums of rows, and where tokens go."""
from bug import Bug, Site, WRONG_RESULT

# Rows of 300 pieces for 256 threads, one after the other in one CTA.
ROWS = (3, 2400, 1)
TOKENS = (12, 6, 2, 2)

BUGS = [
    Bug('residual_not_added', 'the mean of squares is of the source alone, and no sum is written',
        'family/rms_norm/kernel.h', 'if (adds()) add<type>(piece, added, line(params_.sum, row));', '',
        [Site('rms_norm', ROWS, WRONG_RESULT)]),
    Bug('stores_tokens_without_a_slot', 'keys of a token that has no slot are stored before the cache, or behind it',
        'family/rotary/kernel.h', 'if (static_cast<unsigned>(slot) >= params_.rows) return nullptr;', '',
        [Site('rotary', TOKENS, 'bounds', 'stream', stops=True)]),
    Bug('rotates_values', 'heads of values are rotated, too',
        'family/rotary/kernel.h', 'if (this_one < params_.heads + params_.key_heads) {', 'if (this_one < all) {',
        [Site('rotary', TOKENS, WRONG_RESULT)]),
]
