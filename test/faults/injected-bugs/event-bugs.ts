import type { InjectedBug } from './injected-bug.ts';

const claims = 'packages/store/src/deliveries/claim-rows.ts';
const records = 'packages/store/src/deliveries/attempts.ts';

export const eventBugs: readonly InjectedBug[] = [
  {
    name: 'attempt-sent-before-claimed',
    what: 'an attempt is counted when its result is recorded, not before it is sent',
    edits: [
      {
        file: claims,
        from: "attempt_count = d.attempt_count + (p.status = '${at.status}')::int,",
        to: 'attempt_count = d.attempt_count,',
      },
      {
        file: claims,
        from: 'd.round, d.attempt_count, d.status',
        to: 'd.round, d.attempt_count + 1 AS attempt_count, d.status',
      },
      {
        file: claims,
        from: 'SELECT id, round, attempt_count, svc_now() FROM claimed',
        to: 'SELECT id, round, attempt_count, svc_now() FROM claimed ON CONFLICT DO NOTHING',
      },
      {
        file: records,
        from: 'UPDATE deliveries d SET status = h.status,',
        to: 'UPDATE deliveries d SET attempt_count = h.number, status = h.status,',
      },
      {
        file: records,
        from: 'd.attempt_count = h.number\n',
        to: 'd.attempt_count = h.number - 1\n',
      },
    ],
  },
  {
    name: 'nobody-looks-for-deliveries',
    what: 'the reconciler of webhooks does nothing, even if the wake-up job of a delivery was lost',
    edits: [
      {
        file: 'services/webhooks/src/run.ts',
        from: 'reconcile: createRecovery({ ...opened, logger }),',
        to: 'reconcile: async () => void createRecovery({ ...opened, logger }),',
      },
    ],
  },
  {
    name: 'event-outside-its-transaction',
    what: 'the event of an end is written outside the transaction of the end',
    edits: [
      {
        file: 'packages/store/src/endings/end-submissions.ts',
        from: `await writeEndings(store, query, { moved, accounts, events, offers: offersOf(request) });`,
        to: `await insertEvents(store, store.query, decided.flatMap(({ plan }) => plan?.events ?? []));
    await writeEndings(store, query, { moved, accounts, events: [], offers: offersOf(request) });`,
      },
      {
        file: 'packages/store/src/endings/end-submissions.ts',
        from: `import { deliveryIdsOf, sealEvents } from`,
        to: `import { deliveryIdsOf, insertEvents, sealEvents } from`,
      },
    ],
  },
];
