#!/usr/bin/env python3
"""The period of attention's step for every order that family/attention/plan.h lets compile, with a schedule as its certificate.

usage: attention_plans.py solve [--certificate FILE]      with z3 (Debian: python3-z3)
       attention_plans.py check [--certificate FILE]      by additions alone
       attention_plans.py rank [TABLE]                    beside measured times

Two groups of 64 rows take the same step, one behind the other by an offset, for ever. A step of 128 keys and 128 columns
issues two products, which the tensor core takes one after the other, and weighs scores, for which the two groups share the
MUFU. Stages of keys and values come back a copy after both groups have let go of them. All times are in units of 16 cycles.

An order is written by a letter for each act, as in SPsCUpLTR: S and P issue scores and sums, s and p await them, C compares,
U and L weigh the upper and the lower row, T takes weights, R corrects sums. What stands between two of S, P, s and p is the
compiler's to interleave; nothing passes one of them.

solve writes, for each order, the shortest period and, of schedules that have it, one whose step is shortest: what is left of
the period may be lost to copies that are late without a loss of time. A period is proved where a schedule has it and the
tensor core or a chain of the step's own takes as long; all others say that the solver refuted shorter ones.
"""
import argparse
import itertools
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent
CERTIFICATE = HERE / 'tests/families/attention_plans.json'
MEASURED = HERE / 'bench/results/2026-11-18-attention-orders-h200.csv'
LETTERS = 'SPsCULpTR'
# What AttentionPlan::checked() asks for; the upper row comes first, as the rows are alike.
BEFORE = ('Ss', 'Pp', 'sC', 'CU', 'CL', 'UL', 'UT', 'LT', 'CR', 'pT', 'pR')
# Units of 16 cycles, for a group of 64 rows, 128 keys and 128 columns.
COSTS = {
    'product': 32,  # 64 x 128 x 128 multiply-adds, 2048 a cycle
    'issue': 2,     # descriptors, a fence and eight instructions
    'done': 4,      # from the last product to the first instruction behind the wait
    'compare': 8,   # 64 maxima, each two cycles of a warp
    'lanes': 6,     # two shuffles
    'weigh': 16,    # 32 exponentials, each eight cycles of a warp
    'take': 2,      # 16 conversions of two values, each two cycles of a warp
    'correct': 5,   # 64 products and the factors
    'copy': 94,     # 32 KB under load
}
STAGES = 2
GROUPS = 2


def orders():
    for letters in itertools.permutations(LETTERS):
        if all(letters.index(first) < letters.index(second) for first, second in BEFORE):
            yield ''.join(letters)


def act_times():
    """Name and length of what a step's schedule has; T is two halves, one for each row."""
    c = COSTS
    return {'S': c['issue'], 'P': c['issue'], 's': 0, 'p': 0, 'scores': c['product'], 'sums': c['product'], 'C': c['compare'],
            'U': c['weigh'], 'L': c['weigh'], 'T0': c['take'], 'T1': c['take'], 'R': c['correct']}


def precedences(order):
    """(first, distance, second): second begins at least so long after first does."""
    c, length = COSTS, act_times()
    yield from (('S', length['S'], 'scores'), ('P', length['P'], 'sums'), ('scores', c['product'] + c['done'], 's'),
                ('sums', c['product'] + c['done'], 'p'), ('U', length['U'], 'L'), ('U', length['U'], 'T0'),
                ('L', length['L'], 'T1'), ('T0', length['T0'], 'T1'))
    for act in 'ULR':
        yield 'C', c['compare'] + c['lanes'], act
    first, second = ('scores', 'sums') if order.index('S') < order.index('P') else ('sums', 'scores')
    yield first, c['product'], second
    # Waits and issues stand in the order, and nothing passes them.
    for first, second in itertools.combinations(order, 2):
        if first in 'SPsp' or second in 'SPsp':
            for a in halves(first):
                for b in halves(second):
                    yield a, length[a], b


def halves(act):
    return ('T0', 'T1') if act == 'T' else (act,)


def units(kind):
    return {'tensor core': ('scores', 'sums'), 'MUFU': ('U', 'L')}[kind]


def slots():
    """(released, used): a stage that is released by every group comes back STAGES steps later, a copy afterwards."""
    return ('s', 'S'), ('p', 'P')


def chain(order):
    """The step's own length: the longest path of its precedences, and of what one warp issues."""
    begin = earliest(order)
    return max(begin[act] + length for act, length in act_times().items())


def earliest(order):
    begin = dict.fromkeys(act_times(), 0)
    edges = list(precedences(order))
    for _ in begin:
        for first, distance, second in edges:
            begin[second] = max(begin[second], begin[first] + distance)
    return begin


def bound(order):
    return max(GROUPS * 2 * COSTS['product'], chain(order))


def faults(order, plan):
    """Sentences about what a schedule breaks; none where it is one."""
    length, begin, period, offset = act_times(), plan['begin'], plan['period'], plan['offset']
    if sorted(begin) != sorted(length):
        yield f'has the acts {sorted(begin)}, not {sorted(length)}'
        return
    for first, distance, second in precedences(order):
        if begin[second] < begin[first] + distance:
            yield f'{second} begins at {begin[second]}, {first} at {begin[first]}: less than {distance} before'
    for act, lasts in length.items():
        if not 0 <= begin[act] <= plan['length'] - lasts:
            yield f'{act} from {begin[act]} to {begin[act] + lasts} is outside of the step of {plan["length"]}'
    if plan['length'] > period:
        yield f'a step of {plan["length"]} is longer than its period of {period}'
    alone = [('R', act) for act in ('T0', 'T1')]
    for a, b in alone:
        if begin[a] < begin[b] + length[b] and begin[b] < begin[a] + length[a]:
            yield f'{a} and {b} are issued at once'
    for kind in ('tensor core', 'MUFU'):
        every = [(act, begin[act] + group * offset) for group in range(GROUPS) for act in units(kind)]
        for (a, at), (b, other) in itertools.combinations(every, 2):
            if (other - at) % period < length[a] or (at - other) % period < length[b]:
                yield f'the {kind} has {a} at {at} and {b} at {other} at once'
    for released, used in slots():
        for giver in range(GROUPS):
            for taker in range(GROUPS):
                back = begin[released] + giver * offset + COSTS['copy']
                if begin[used] + taker * offset + STAGES * period < back:
                    yield f'the stage that {released} releases is there at {back}, after {used} wants it'


def solve(order):
    import z3
    length = act_times()
    begin = {act: z3.Int(act) for act in length}
    offset, end = z3.Int('offset'), z3.Int('end')

    def solver_of(period):
        solver = z3.Solver()
        for first, distance, second in precedences(order):
            solver.add(begin[second] >= begin[first] + distance)
        for act, lasts in length.items():
            solver.add(begin[act] >= 0, begin[act] + lasts <= end)
        solver.add(end <= period, offset >= 0, offset < period)
        for half in ('T0', 'T1'):
            solver.add(z3.Or(begin['R'] >= begin[half] + length[half], begin[half] >= begin['R'] + length['R']))
        for kind in ('tensor core', 'MUFU'):
            for a in units(kind):
                for b in units(kind):
                    # The other group's b, one or no period before or after this one's a.
                    apart = begin[b] + offset - begin[a]
                    solver.add(z3.Or([z3.And(apart >= k * period + length[a], apart <= (k + 1) * period - length[b])
                                      for k in (-1, 0, 1)]))
        for released, used in slots():
            for giver in range(GROUPS):
                for taker in range(GROUPS):
                    solver.add(begin[used] + taker * offset + STAGES * period
                               >= begin[released] + giver * offset + COSTS['copy'])
        return solver

    period = bound(order)
    while solver_of(period).check() != z3.sat:
        period += 1
    low, high, best = chain(order), period, None
    while low <= high:
        middle = (low + high) // 2
        solver = solver_of(period)
        solver.add(end <= middle)
        if solver.check() == z3.sat:
            model = solver.model()
            best = {'period': period, 'length': middle, 'offset': model.eval(offset, model_completion=True).as_long(),
                    'begin': {act: model[begin[act]].as_long() for act in length}}
            high = middle - 1
        else:
            low = middle + 1
    return best


def ranks(values):
    """Ranks from the smallest, the mean of those that are alike."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def spearman(first, second):
    a, b = ranks(first), ranks(second)
    mean = (len(a) - 1) / 2
    covariance = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    spread = [sum((x - mean) ** 2 for x in of) ** 0.5 for of in (a, b)]
    return covariance / (spread[0] * spread[1])


def check(plans):
    wrong = []
    if set(plans) != set(orders()):
        wrong.append(f'{len(set(plans) ^ set(orders()))} orders stand in one of the certificate and plan.h alone')
    for order, plan in plans.items():
        wrong += [f'{order}: {fault}' for fault in faults(order, plan)]
        if plan['period'] < bound(order):
            wrong.append(f'{order}: a period of {plan["period"]} is less than {bound(order)}')
        if plan['proved'] != (plan['period'] == bound(order)):
            wrong.append(f'{order}: says proved = {plan["proved"]}; its bound is {bound(order)}')
    return wrong


def rank(plans, table):
    """Spearman's correlation of predicted orders and measured times, for each column of a table of order,time,..."""
    lines = [line.split(',') for line in table.read_text().splitlines() if line and not line.startswith('#')]
    for column, name in enumerate(lines[0][1:], 1):
        rows = [line for line in lines[1:] if line[column]]
        predicted = [(plans[line[0]]['period'], plans[line[0]]['length']) for line in rows]
        measured = [float(line[column]) for line in rows]
        print(f'{name}: {spearman(predicted, measured):.2f} of {len(rows)} orders')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('command', choices=('solve', 'check', 'rank'))
    parser.add_argument('table', nargs='?', type=pathlib.Path, default=MEASURED)
    parser.add_argument('--certificate', type=pathlib.Path, default=CERTIFICATE)
    options = parser.parse_args()
    if options.command == 'solve':
        plans = {}
        for order in orders():
            plans[order] = solve(order)
            plans[order]['proved'] = plans[order]['period'] == bound(order)
        rows = [f'"{order}": {json.dumps(plan)}' for order, plan in plans.items()]
        options.certificate.write_text('{\n' + ',\n'.join(rows) + '\n}\n')
    plans = json.loads(options.certificate.read_text())
    if options.command == 'rank':
        rank(plans, options.table)
    wrong = check(plans)
    for sentence in wrong:
        print(f'attention_plans.py: {sentence}', file=sys.stderr)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
