#!/usr/bin/env python3
"""The certificates of attention's orders: each schedule holds, faults in them are seen, and plan.h has the order that they single out."""
import copy
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / 'tools'))
import attention_plans as tool  # noqa: E402

NAMES = dict(zip('SPsCULpTR', ('IssueScores', 'IssueSums', 'AwaitScores', 'Compare', 'WeighUpper', 'WeighLower', 'AwaitSums',
                               'TakeWeights', 'CorrectSums')))
LETTERS = {name: letter for letter, name in NAMES.items()}


def asked_by(header):
    """Pairs of acts of which plan.h wants one before the other."""
    text = header[header.index('consteval AttentionPlan checked()'):header.index('namespace attention_plan')]
    text = text.replace('is_before(Act::Compare, weigh)', 'is_before(Act::Compare, Act::WeighUpper) && is_before(Act::Compare, Act::WeighLower)')
    text = text.replace('is_before(weigh, Act::TakeWeights)',
                        'is_before(Act::WeighUpper, Act::TakeWeights) && is_before(Act::WeighLower, Act::TakeWeights)')
    return {LETTERS[first] + LETTERS[second] for first, second in re.findall(r'is_before\(Act::(\w+), Act::(\w+)\)', text)}


def order_of(header, plan):
    acts = header[header.index(f'AttentionPlan {plan} ='):]
    return ''.join(LETTERS[name] for name in re.findall(r'Act::(\w+)', acts)[:len(LETTERS)])


def unseen(title, broken, kinds):
    """Sentences about schedules that faults() takes, or whose faults name none of a kind."""
    for order, plan in broken.items():
        found = list(tool.faults(order, plan))
        if not found:
            yield f'{order}: {title} is not seen'
        for kind in kinds:
            if found and not any(fault.startswith(kind) for fault in found):
                yield f'{order}: {title} is no fault of {kind}'


def mufu_alone(plans):
    """Orders that have, in twice the period, an offset that holds, and another by which nothing but weights of two groups collide."""
    collided = []
    for order, plan in plans.items():
        period = 2 * plan['period']
        found = [list(tool.faults(order, plan | {'period': period, 'offset': offset})) for offset in range(period)]
        if [] in found and any(faults and all(fault.startswith('the MUFU') for fault in faults) for faults in found):
            collided.append(order)
    return collided


def late_stages(plans):
    """Orders whose schedule holds at twice the period, and breaks by a stage alone when the other group comes so much later that its
    release is too late."""
    late = []
    for order, plan in plans.items():
        period = 2 * plan['period']
        found = [list(tool.faults(order, plan | {'period': period, 'offset': plan['offset'] + turns * period})) for turns in range(4)]
        if not found[0] and any(faults and all(fault.startswith('the stage') for fault in faults) for faults in found):
            late.append(order)
    return late


def main():
    header = (HERE.parent.parent / 'include/tilewright/family/attention/plan.h').read_text()
    plans = json.loads(tool.CERTIFICATE.read_text())
    wrong = tool.check(plans)
    if asked_by(header) | {'UL'} != set(tool.BEFORE):
        wrong.append(f'plan.h asks for {sorted(asked_by(header))}, the tool for {sorted(tool.BEFORE)}')
    best = min((plan['period'], plan['length']) for plan in plans.values())
    shipped = plans[order_of(header, 'halved_ahead')]
    if (shipped['period'], shipped['length']) != best:
        wrong.append(f'halved_ahead has a period of {shipped["period"]} and a step of {shipped["length"]}, the best has {best}')
    seen = planted = 0
    for order, plan in plans.items():
        for name in plan['begin']:
            for by in (-1, 1):
                broken = copy.deepcopy(plan)
                broken['begin'][name] += by * tool.COSTS['product']
                planted += 1
                seen += any(True for _ in tool.faults(order, broken))
        shorter = copy.deepcopy(plan)
        shorter['period'] = min(shorter['period'], plan['length']) - 1
        planted += 1
        seen += any(True for _ in tool.faults(order, shorter))
    # A few acts have room for a whole product on one side.
    if seen < 0.9 * planted:
        wrong.append(f'{seen} of {planted} broken schedules are seen')
    groups_at_once = {order: plan | {'offset': 0} for order, plan in plans.items()}
    wrong += unseen('both groups at once', groups_at_once, ('the tensor core', 'the MUFU'))
    # A period that the step's own acts would let be shorter: the two groups or the stages forbid it.
    shorter = {order: plan | {'period': plan['period'] - 1} for order, plan in plans.items() if not plan['proved']}
    wrong += unseen('a shorter period', shorter, ())
    if not mufu_alone(plans):
        wrong.append('of no order an offset is refused for the MUFU alone')
    late = late_stages(plans)
    if len(late) != len(plans):
        wrong.append(f'a stage alone is late in schedules of {len(late)} of {len(plans)} orders')
    print(f'{len(plans)} orders, {sum(plan["proved"] for plan in plans.values())} periods proved; {seen} of {planted} broken schedules seen')
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
