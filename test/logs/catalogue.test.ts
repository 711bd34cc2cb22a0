import { readFileSync } from 'node:fs';
import path from 'node:path';
import { nodeLogMembers } from '@svc/node-agent';
import { logMembers } from '@svc/runtime';
import { expect, test } from 'vitest';
import { type LogCall, logCalls, logCallsIn } from './call-sites.ts';
import { type DocumentedEvent, logsPage, nodeEvents, serviceEvents } from './page.ts';

const calls = logCalls();
const catalogues = { services: new Map(serviceEvents), nodes: new Map(nodeEvents) };

/**
 * The files that may have a log call without an event, because the call passes on a log line of a
 * browser step.
 */
const passedOn = [
  'packages/node-agent/src/browser-node.ts',
  'packages/node-agent/src/executors/browser/job/run-job.ts',
];

/**
 * Finds the events that a log call can write: the one in its member `event`, or else one for each
 * of its messages. An element is undefined if the call is wrong.
 */
function eventsOf({ isAgent, messages, event }: LogCall): (string | undefined)[] {
  const catalogue = isAgent ? catalogues.nodes : catalogues.services;
  if (event !== undefined) return [catalogue.get(event)?.message === null ? event : undefined];
  const entries = [...catalogue];
  return messages.map((message) => entries.find(([, one]) => one.message === message)?.[0]);
}

function faultsOf(call: LogCall): string[] {
  const events = eventsOf(call);
  if (events.length === 0) {
    return passedOn.includes(call.at.split(':')[0] ?? '') ? [] : [`${call.at} has no event`];
  }
  const catalogue = call.isAgent ? catalogues.nodes : catalogues.services;
  return events.flatMap((event) => {
    const entry = catalogue.get(event ?? '');
    if (entry === undefined) return [`${call.at} has no event`];
    const isLevel = entry.level === (call.level ?? 'info');
    const unknown = call.members.filter((member) => !entry.members.includes(member));
    return [
      ...(isLevel ? [] : [`${call.at} is not at the level ${entry.level}`]),
      ...unknown.map((member) => `${call.at} has the member ${member}`),
    ];
  });
}

test('every log line has an event of the catalogue, with its level and members', () => {
  expect(calls.length).toBeGreaterThan(100);
  expect(calls.flatMap(faultsOf)).toEqual([]);
});

test('a call without an event, at another level or with another member is found', () => {
  const text = `
    logger.warn({ err }, 'nobody knows this');
    deps.logger.info({ err }, 'job failed');
    own.error({ err, secret: 1 }, 'job failed');
    logger?.error({ event: 'queue.job_failed' }, reason);
    logger.error({ err, queue }, 'job failed');`;
  expect(logCallsIn('services/x/src/x.ts', text).flatMap(faultsOf)).toEqual([
    'services/x/src/x.ts:2 has no event',
    'services/x/src/x.ts:3 is not at the level error',
    'services/x/src/x.ts:4 has the member secret',
    'services/x/src/x.ts:5 has no event',
  ]);
});

test('every event of the catalogue is logged somewhere', () => {
  for (const [name, catalogue] of Object.entries(catalogues)) {
    const own = calls.filter(({ isAgent }) => isAgent === (name === 'nodes'));
    const logged = new Set(own.flatMap(eventsOf));
    expect([...catalogue.keys()].filter((event) => !logged.has(event))).toEqual([]);
  }
});

function entryFaults([event, entry]: [string, DocumentedEvent]): string[] {
  const isUrgent = !['info', 'debug'].includes(entry.level);
  return [
    ...(/^[a-z]+[.][a-z]+(_[a-z]+)*$/.test(event) ? [] : ['name']),
    ...(isUrgent && (entry.action ?? '') === '' ? ['action'] : []),
    ...((entry.message ?? entry.says) === undefined ? ['message'] : []),
  ];
}

test('each event has a name of room and fact, its own message, and an action if it is a warning or worse', () => {
  for (const [catalogue, members] of [
    [serviceEvents, logMembers],
    [nodeEvents, nodeLogMembers],
  ] as const) {
    expect(catalogue.filter((entry) => entryFaults(entry).length > 0)).toEqual([]);
    const messages = catalogue.flatMap(([, { message }]) => message ?? []);
    expect(messages.toSorted()).toEqual([...new Set(messages)].toSorted());
    const used = new Set(catalogue.flatMap(([, entry]) => entry.members));
    expect([...used].toSorted()).toEqual(Object.keys(members).toSorted());
  }
});

test('the page of logs is generated from the catalogue', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/LOGS.md'), 'utf8');
  // If the page differs, `pnpm logs:docs` writes it again from the catalogue.
  expect(page).toBe(logsPage());
});
