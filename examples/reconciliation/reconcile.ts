/**
 * Compares your records with the submissions and the account statement of the last `HOURS` hours
 * (default 24). Prints each difference, and exits with 1 if there is one.
 */
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@svc/client';

const { SVC_URL = '', SVC_TENANT = '', SVC_SECRET = '', DATABASE = 'records.db' } = process.env;
const hours = Number(process.env['HOURS'] ?? 24);
const client = createClient({ baseUrl: SVC_URL, tenantId: SVC_TENANT, secret: SVC_SECRET });
const records = new DatabaseSync(DATABASE, { readOnly: true });
const since = new Date(Date.now() - hours * 3_600_000).toISOString();

const differences: string[] = [];
/**
 * Converts credits, which have six decimals, to whole millionths, because sums of whole numbers have
 * no rounding errors.
 */
const micros = (credits: number) => Math.round(credits * 1_000_000);

// Read the submissions before the statement. In the other order, the statement would lack the
// charge of a submission that ends between the two reads.
const submissions = [];
for await (const submission of client.listSubmissions({ createdAfter: since, limit: 100 })) {
  submissions.push(submission);
}

// 1. The statement: in each line, the balance minus the held credits is the available credits.
const paid = new Map<string, number>();
const returned = new Map<string, number>();
let lines = 0;
for await (const line of client.listTransactions({ limit: 100 })) {
  if (line.createdAt < since) break;
  lines += 1;
  if (micros(line.balanceAfter) - micros(line.heldAfter) !== micros(line.availableAfter)) {
    differences.push(`${line.id}: balance, held and available do not agree`);
  }
  const sums = line.type === 'charge' ? paid : line.type === 'release' ? returned : undefined;
  const id = line.submissionId ?? '';
  sums?.set(id, (sums.get(id) ?? 0) + micros(line.amount));
}

// 2. The submissions: each is in your records, with the same status and charge. For each ended
// submission, the statement shows the same charge and release.
const find = records.prepare('SELECT status, charged FROM submissions WHERE key = ?');
const seen = new Set<string>();
for (const submission of submissions) {
  const { id, idempotencyKey: key, status, actualCredits, refundedCredits } = submission;
  seen.add(key);
  const own = find.get(key);
  if (own === undefined) differences.push(`${key}: not in your records, but ${status}`);
  else if (own['status'] !== status) {
    differences.push(`${key}: ${String(own['status'])} in your records, but ${status}`);
  } else if (actualCredits !== null && own['charged'] !== actualCredits) {
    differences.push(
      `${key}: ${String(own['charged'])} in your records, but charged ${actualCredits}`,
    );
  }
  if (actualCredits === null || refundedCredits === null) continue;
  if ((paid.get(id) ?? 0) !== micros(actualCredits)) {
    differences.push(`${key}: the statement does not show the charge of ${actualCredits}`);
  }
  if ((returned.get(id) ?? 0) !== micros(refundedCredits)) {
    differences.push(`${key}: the statement does not show the release of ${refundedCredits}`);
  }
}

// 3. Your records that the service does not know.
for (const { key } of records
  .prepare('SELECT key FROM submissions WHERE created_at >= ?')
  .all(since)) {
  if (!seen.has(String(key))) differences.push(`${String(key)}: only in your records`);
}

for (const difference of differences) console.log(difference);
console.log(`${seen.size} submissions, ${lines} lines, ${differences.length} differences.`);
process.exitCode = differences.length === 0 ? 0 : 1;
