"""Bugs of the quantiser: whose maximum a scale is of, and where pieces begin and end."""
from bug import Bug, Site, WRONG_RESULT

# Three tiles of 64 rows, the last of 22, in three blocks of k.
RAGGED = (150, 300, 2)
# One row is missing of whole tiles, of 64 and of 128 rows.
NEARLY = (191, 100, 2)
NEARLY_BLOCKS = (255, 100, 2)
# One tile for one CTA, and three.
ONE_BLOCK = (128, 128, 1)
BLOCKS = (128, 384, 1)

BUGS = [
    Bug('maximum_before_all_have_one',
        'who reads the maxima of the other warps does not wait for them',
        'pipeline/maximum.h', 'isa::barrier_sync(0, warps * 32);', '',
        [Site('quantise_blocks', ONE_BLOCK, 'race', 'stream', 0, also=('uninitialised',)),
         Site('rms_norm_waves', (1, 2400, 1), 'race', 'stream', 0, also=('uninitialised',))]),
    Bug('one_set_of_maxima',
        'the fastest warps write over maxima that others still read',
        'pipeline/maximum.h', 'next_ ^= 1;', '',
        [Site('quantise_blocks', BLOCKS, 'overwrite-while-read', 'stream', 0)]),
    Bug('scale_of_another_row',
        'every row of a tile is scaled as its first one',
        'family/quantise/kernel.h',
        'const std::uint32_t told = isa::shuffle(inverse, thread_ % isa::warp_lanes() - mine + i);',
        'const std::uint32_t told = isa::shuffle(inverse, thread_ % isa::warp_lanes() - mine);',
        [Site('quantise_rows', RAGGED, WRONG_RESULT)]),
    Bug('half_of_a_row',
        'the maximum is of half of the threads that have a row',
        'pipeline/maximum.h', 'for (unsigned step = count; step < lanes; step *= 2) {',
        'for (unsigned step = count; step < lanes / 2; step *= 2) {',
        [Site('quantise_rows', RAGGED, WRONG_RESULT)]),
    Bug('reads_rows_behind_the_last',
        'rows that are not there are read',
        'family/quantise/kernel.h',
        '(row < params_.m ? row : params_.m - 1) * params_.source_pitch + column;',
        'row * params_.source_pitch + column;',
        [Site('quantise_rows', NEARLY, 'bounds', 'stream', stops=True),
         Site('quantise_blocks', NEARLY_BLOCKS, 'bounds', 'stream', stops=True)]),
    Bug('whole_vectors_at_the_end',
        'a piece that ends outside of its row is loaded and stored as a vector',
        'family/quantise/kernel.h',
        'return params_.in_vectors && column + static_cast<int>(length) <= params_.k;',
        'return params_.in_vectors && column < params_.k;',
        [Site('quantise_rows', RAGGED, 'bounds', 'stream', stops=True)]),
    Bug('scale_behind_the_last_row',
        'rows that are not there get a scale',
        'family/quantise/kernel.h', 'if (scale_rows == 1 && row >= params_.m) return;', '',
        [Site('quantise_rows', NEARLY, 'bounds', 'stream', stops=True)]),
]
