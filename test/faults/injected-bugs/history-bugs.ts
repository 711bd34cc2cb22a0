import type { InjectedBug } from './injected-bug.ts';

const holding = 'packages/store/src/submissions/hold.ts';

/**
 * Returns the source text of an expression that caches the value of `read` in the process. Each
 * `key` has a separate value, which is kept for `ageMs`.
 */
function cached(key: string, read: string, ageMs: string): string {
  return `(async (cache, key) => {
    const known = cache.get(key);
    if (known !== undefined && performance.now() - known.atMs < ${ageMs}) return known.value;
    const value = await ${read};
    cache.set(key, { value, atMs: performance.now() });
    return value;
  })((globalThis.injectedBugState ??= new Map()), ${key})`;
}

/**
 * Bugs that change no final balance. They are visible in the records that test/history checks:
 * answers, ledger entries and webhooks.
 */
export const historyBugs: readonly InjectedBug[] = [
  {
    name: 'balance-before-the-hold',
    what: '`balance.after` in the answer to a creation is the figure before the hold',
    edits: [
      {
        file: holding,
        from: '($rate_card_version)[position], available,\n',
        to: '($rate_card_version)[position], available + max,\n',
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
    what: 'the holds of one SQL statement are numbered in the ledger in reverse order',
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
    what: 'a gateway shows a balance that it read up to 3 s ago',
    edits: [
      {
        file: 'services/gateway/src/credits/balance.ts',
        from: '        readBalance(deps.store, tenantId),\n',
        to: `        ${cached('tenantId', 'readBalance(deps.store, tenantId)', '3_000')},\n`,
      },
    ],
  },
  {
    name: 'submission-from-a-cache',
    what: 'a gateway shows a submission as it was at the first read, until the gateway stops',
    edits: [
      {
        file: 'services/gateway/src/submissions/get-submission.ts',
        from: 'await findSubmission(deps.store, tenant.tenantId, submissionId);',
        to: `await ${cached('submissionId', 'findSubmission(deps.store, tenant.tenantId, submissionId)', 'Infinity')};`,
      },
    ],
  },
  {
    name: 'url-from-a-cache',
    what: 'a process keeps using the first URL that it has read for a webhook endpoint',
    edits: [
      {
        file: 'packages/store/src/deliveries/claims.ts',
        from: "      url: row.url ?? '',\n",
        to: `      url: ((seen, key, url) => seen.get(key) ?? (seen.set(key, url), url))(
        (globalThis.injectedBugState ??= new Map()), row.key, row.url ?? ''),\n`,
      },
    ],
  },
  {
    name: 'pending-dropped-with-the-old-url',
    what: 'a change of the URL drops pending deliveries, as if the URL had been cleared',
    edits: [
      {
        file: 'packages/store/src/tenants/tenants.ts',
        from: '  if (webhookUrl !== null && !before.notified) await dropPendingDeliveries(query, tenantId);\n',
        to: '  await dropPendingDeliveries(query, tenantId);\n',
      },
    ],
  },
];
