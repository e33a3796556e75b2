"""Bugs of products that stream rows of B: parts that warps exchange, and the ends of rows and of memory."""
from bug import Bug, Site, WRONG_RESULT

# Two tiles of rows of B, the second with few of them, and k that ends amid a piece.
FEW = (3, 52, 203, 0, 2, 1)
# More tiles than CTAs.
TILES = (30, 400, 100, 0, 1, 1)
# The last row ends with a whole step.
WHOLE = (3, 64, 192, 0, 2, 1)

BUGS = [
    Bug('parts_before_all_are_there',
        'who is first adds up parts that other warps have not written yet',
        'pipeline/warp_parts.h', 'isa::barrier_sync(0, 32 * warps);', '',
        [Site('rows', FEW, 'race', 'stream', also=('uninitialised',))]),
    Bug('parts_of_the_next_tile',
        'who is first writes parts of the next tile while others still add up',
        'pipeline/warp_parts.h', 'if (is_used_) isa::barrier_sync(0, 32 * warps);', '',
        [Site('rows', TILES, 'overwrite-while-read', 'stream', also=('race',))]),
    Bug('shifted_past_the_last_row',
        'the 16 bytes behind the last element are read, too',
        'family/matmul/lane_rows.h', 'inner_end_ = left < length ? static_cast<int>(left) : length;',
        'inner_end_ = length;',
        [Site('rows', WHOLE, 'bounds', 'stream', stops=True)]),
    Bug('shifted_before_the_first_row',
        'the 16 bytes in which the matrix begins are read whole',
        'family/matmul/lane_rows.h',
        'inner_begin_ = lowest - ShiftedPiece::shift_of(lowest) >= matrix.begin ? 0 : 1;',
        'inner_begin_ = 0;',
        [Site('rows', WHOLE, 'bounds', 'stream', stops=True)]),
    Bug('other_halves_of_k',
        'a product takes other elements of k from the rows of B than from those of A',
        'family/matmul/row_products.h', 'row[2 * block][pair + 1], row[2 * block + 1][pair + 1]};',
        'row[2 * block][pair], row[2 * block + 1][pair + 1]};',
        [Site('rows', FEW, WRONG_RESULT)]),
]
