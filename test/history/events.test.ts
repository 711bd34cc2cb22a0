import { expect, test } from 'vitest';
import { checkEvents } from './events.ts';
import type { History, UrlRecord, WebhookRecord } from './history.ts';
import { create, created, status } from './records.fixture.ts';

function violations(history: History): string[] {
  return checkEvents(history).flatMap((verdict) => verdict.violations);
}

function url([beginMs, endMs]: readonly [number, number | null], to: string | null): UrlRecord {
  return { kind: 'url', tenant: 't', url: to, beginMs, endMs };
}

function webhook(atMs: number, at: string, eventId = 'e'): WebhookRecord {
  const type = 'submission.completed';
  return { kind: 'webhook', tenant: 't', url: at, eventId, type, submissionId: 's', atMs };
}

const rest = { kind: 'rest', atMs: 100 } as const;
const ended = [
  create([20, 21], created('s')),
  status('s', 'running', [22, 23]),
  status('s', 'submitted', [29, 30]),
];

const good: Record<string, History> = {
  'an event at the current URL': [url([0, 1], 'a'), ...ended, webhook(31, 'a'), rest],
  'an event at the new URL, whose cause was before the change': [
    url([0, 1], 'a'),
    ...ended,
    url([40, 41], 'b'),
    webhook(50, 'b'),
    rest,
  ],
  'an event at the old URL, replaced after its cause': [
    url([0, 1], 'a'),
    ...ended,
    url([40, 41], 'b'),
    webhook(50, 'a'),
    rest,
  ],
  'an event at the old URL, while the change has no answer': [
    url([0, 1], 'a'),
    url([10, null], 'b'),
    ...ended,
    webhook(31, 'a'),
    rest,
  ],
  'no event without a URL': [...ended, rest],
  'no event while the URL may have been cleared': [
    url([0, 1], 'a'),
    ...ended,
    url([29, 40], null),
    rest,
  ],
  'no event yet': [url([0, 1], 'a'), ...ended],
};

const bad: Record<string, [wrong: string, history: History]> = {
  'an event at a URL that was replaced before its cause': [
    'was not in force',
    [url([0, 1], 'a'), url([10, 11], 'b'), ...ended, webhook(31, 'a'), rest],
  ],
  'an event at a URL that is not set yet': [
    'was not in force',
    [url([0, 1], 'a'), ...ended, webhook(31, 'b'), url([40, 41], 'b'), rest],
  ],
  'an event to a tenant without a URL': ['was not in force', [...ended, webhook(31, 'a'), rest]],
  'an end without its event': ['no event of its end arrived', [url([0, 1], 'a'), ...ended, rest]],
  'an end without its event although the URL only moved': [
    'no event of its end arrived',
    [url([0, 1], 'a'), ...ended, url([29, 40], 'b'), rest],
  ],
  'an end with two events': [
    '2 events: e, f',
    [url([0, 1], 'a'), ...ended, webhook(31, 'a', 'e'), webhook(32, 'a', 'f'), rest],
  ],
};

test.each(Object.entries(good))('%s is correct', (_name, history) => {
  expect(violations(history)).toEqual([]);
});

test.each(Object.entries(bad))('%s is a violation', (_name, [wrong, history]) => {
  expect(violations(history)).toEqual([expect.stringContaining(wrong)]);
});
