import type { Planted } from './planted.ts';

const holding = 'packages/store/src/holding.ts';

/** A cache in the process that never forgets what it saw first. */
function firstSeen(key: string, value: string): string {
  return `((seen, key, value) => seen.get(key) ?? (seen.set(key, value), value))((globalThis.planted ??= new Map()), ${key}, ${value})`;
}

/** Each of them leaves the books right at the end: only what was shown on the way is wrong. */
export const historyBugs: readonly Planted[] = [
  {
    name: 'balance-before-the-hold',
    what: '`balance.after` of a creation is the figure from before its hold',
    edits: [
      {
        file: holding,
        from: '($13::int[])[position], available,\n',
        to: '($13::int[])[position], available + max,\n',
      },
      {
        file: holding,
        from: 'CASE WHEN granted THEN available END AS available_after',
        to: 'CASE WHEN granted THEN available + max END AS available_after',
      },
    ],
  },
  {
    name: 'entries-out-of-order',
    what: 'the holds of one statement are numbered in the ledger from last to first',
    edits: [
      {
        file: holding,
        from: 'FROM walk WHERE granted AND max > 0 ORDER BY position\n',
        to: 'FROM walk WHERE granted AND max > 0 ORDER BY position DESC\n',
      },
    ],
  },
  {
    name: 'balance-from-a-cache',
    what: 'a gateway shows the balance that it read first for as long as it runs',
    edits: [
      {
        file: 'services/gateway/src/routes/balance.ts',
        from: '        readBalance(deps.store, tenantId),\n',
        to: `        ${firstSeen('tenantId', 'readBalance(deps.store, tenantId)')},\n`,
      },
    ],
  },
  {
    name: 'submission-from-a-cache',
    what: 'a gateway shows the submission as it read it first for as long as it runs',
    edits: [
      {
        file: 'services/gateway/src/routes/get-submission.ts',
        from: 'await findSubmission(deps.store, tenant.tenantId, submissionId);',
        to: `await ${firstSeen('submissionId', 'findSubmission(deps.store, tenant.tenantId, submissionId)')};`,
      },
    ],
  },
  {
    name: 'url-from-a-cache',
    what: 'an attempt goes to the URL that this process saw first, not to the one in force',
    edits: [
      {
        file: 'packages/store/src/delivery-claims.ts',
        from: "      url: row.webhook_url ?? '',\n",
        to: `      url: ${firstSeen('row.tenant_id', "row.webhook_url ?? ''")},\n`,
      },
    ],
  },
  {
    name: 'pending-dropped-with-the-old-url',
    what: 'a change of the URL drops what is pending, as if the URL had been cleared',
    edits: [
      {
        file: 'packages/store/src/tenants.ts',
        from: '  if (webhookUrl === null) await dropPendingDeliveries(tx, tenantId);\n',
        to: '  await dropPendingDeliveries(tx, tenantId);\n',
      },
    ],
  },
];
