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
    print(f'{len(plans)} orders, {sum(plan["proved"] for plan in plans.values())} periods proved; {seen} of {planted} broken schedules seen')
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
