"""Bugs of what stands around the experts' products: whom tokens go to, where, and how they come back."""
from bug import Bug, STOPPED, Site, WRONG_RESULT

# 70 tokens are two rounds and a part of a third: of three CTAs, or of one.
MANY = (70, 20, 3, 4)
ONE = (70, 20, 3, 1)
ROWS = (6, 1040, 9, 2)
# 70, no and 9 rows, two blocks of outputs, two k-tiles.
GATED = (90, 512, 200, 1, '70,0,9')

BUGS = [
    Bug('higher_expert_of_equal_ones', 'of two experts with the same score the higher one is chosen',
        'family/route/scores.h', 'other.key > best.key || (other.key == best.key && other.expert < best.expert);',
        'other.key > best.key || (other.key == best.key && other.expert > best.expert);',
        [Site('route', ONE, WRONG_RESULT)]),
    Bug('chooses_while_others_count', 'the next round of tokens is written over those that are being counted',
        'family/route/kernel.h', 'if (begin + round < end) CtaMeeting<threads>::meet();', '',
        [Site('route', ONE, 'overwrite-while-read', 'stream', 0)]),
    Bug('takes_rows_of_other_ctas', 'a CTA begins at the first row of an expert, whoever came before it',
        'family/route/kernel.h', 'if (first + i < run) before += some[i];', '',
        [Site('route', MANY, 'global-race', 'stream', text='with another value')]),
    Bug('ctas_do_not_meet', 'a CTA reads the counts of others before they are there',
        'pipeline/meeting.h', 'isa::global_wait_at_least(counters_, isa::cta_count());', '',
        [Site('route', MANY, 'global-race', 'stream')]),
    Bug('meeting_leaves_its_counters', 'the counters are not zero for the next launch',
        'pipeline/meeting.h', 'isa::global_store_release(counters_ + 1, 0);', '',
        [Site('route', MANY, STOPPED, text='are not zero after the launch')]),
    Bug('rows_that_are_not_there', 'a place outside of the source is read',
        'family/combine/kernel.h', 'is_there[i] = row < params_.rows;', 'is_there[i] = true;',
        [Site('combine', ROWS, 'bounds', 'stream', stops=True)]),
    Bug('scales_of_sums_blocks', 'the scale of an output block goes where its gate stands among the sums',
        'epilogue/gated_blocks.h', 'const int before = place.column / int{2 * block} * int{block};', 'const int before = 0;',
        [Site('gated_blocks', GATED, WRONG_RESULT)]),
    Bug('stores_ups', 'of a gate and its up, what is stored is the up',
        'epilogue/gated_blocks.h', 'for (unsigned i = 0; i < pairs / 2; ++i) joined[i] = values[i];',
        'for (unsigned i = 0; i < pairs / 2; ++i) joined[i] = values[pairs / 2 + i];',
        [Site('gated_blocks', GATED, WRONG_RESULT)]),
    Bug('scales_of_groups_apart', 'each group has its own matrix of scales of D',
        'family/requantised/launch.h', 'scales.by_rows ? 1 : scales.pitch, in_groups ? 0 : scales.batch_pitch,',
        'scales.by_rows ? 1 : scales.pitch, in_groups ? scales.pitch : scales.batch_pitch,',
        [Site('gated_blocks', GATED, WRONG_RESULT)]),
]
