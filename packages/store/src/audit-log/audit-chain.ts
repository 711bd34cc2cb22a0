import { createHash } from 'node:crypto';
import type { Store } from '../connection/store.ts';
import { isUnknownKey } from '../sealing/key-holders.ts';
import { auditHeadPlace, unsealText } from '../sealing/sealed.ts';
import { appendAudit, type AuditedChange, type Author } from './audit.ts';

/**
 * The audit log is a hash chain, and the settlement service seals its head. docs/OPERATIONS.md,
 * "The audit log", lists the changes that the chain and the head reveal.
 */

/** The position and the hash of an entry. The hash also covers all entries before it. */
export interface AuditHead {
  readonly position: bigint;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

export type AuditFault =
  /**
   * The hash of the entry does not match its text and the previous hash. One of these three was
   * changed, or the entry was moved to another position.
   */
  | { kind: 'changed'; position: bigint; entryId: bigint }
  | { kind: 'removed'; position: bigint; entryId: bigint }
  /** The chain lacks positions before a later entry. `position` is the first missing position. */
  | { kind: 'place_removed'; position: bigint }
  /** The entry is in the log, but not in the chain. */
  | { kind: 'inserted'; entryId: bigint }
  /**
   * The chain ends before the position of a known head. Known heads are the sealed head and the
   * head `noted` that the caller passes.
   */
  | { kind: 'cut_off'; position: bigint }
  /** At the position of a known head, the chain has another hash than this head. */
  | { kind: 'rewritten'; position: bigint }
  /** The sealed head cannot be unsealed, or its text is malformed. */
  | { kind: 'head_forged' }
  /** The log has an entry older than `headOverdueMinutes`, but there is no sealed head. */
  | { kind: 'head_missing' };

export interface AuditVerdict {
  /** The number of rows of the chain that were checked. */
  readonly entries: number;
  /** The last entry that was read: the end of the chain. Null if no entry was read. */
  readonly head: AuditHead | null;
  readonly faults: readonly AuditFault[];
}

const rowsPerPage = 1_000;
const insertedMax = 100;
/**
 * A log with an entry older than this must have a sealed head, because the settlement service seals
 * the head every minute.
 */
const headOverdueMinutes = 10;

/**
 * SQL for the text of the entry `l`, as the SQL function `svc_audit_text` returns it. The function
 * is not called, because the verification must not depend on it.
 */
const textSql = `jsonb_build_array(l.id, (extract(epoch FROM l.at) * 1000)::bigint, l.actor_kind,
  l.actor_id, l.actor_name, l.action, l.subject_kind, l.subject_id, l.before, l.after, l.request_id)::text`;

interface ChainEntry {
  readonly position: bigint;
  readonly entryId: bigint;
  readonly hash: Uint8Array;
  /**
   * Null if the log lacks the entry. Someone has then removed it, because an entry and its row in
   * the chain are committed together.
   */
  readonly text: string | null;
}

/**
 * Verifies the whole log. `noted` is a head that was written down elsewhere. The chain must contain
 * `noted` and the sealed head.
 */
export async function verifyAudit(store: Store, noted?: AuditHead): Promise<AuditVerdict> {
  const sealed = await readHead(store);
  const known = [noted, sealed.head].filter((head) => head !== undefined && head !== null);
  const walked = await walkChain(store, null, known);
  const faults = [...walked.faults, ...(await findInserted(store))];
  if (sealed.isForged) faults.push({ kind: 'head_forged' });
  if (sealed.isMissing) faults.push({ kind: 'head_missing' });
  return { ...walked, faults };
}

/**
 * Verifies the entries after the sealed head. Seals the end of the chain as the new head if there
 * is no fault other than `head_missing`.
 */
export async function sealAuditHead(
  store: Store,
  /** The head that an earlier call returned without faults. */
  noted: AuditHead | null = null,
): Promise<AuditVerdict> {
  const { head, isForged, isMissing } = await readHead(store);
  if (isForged) return { entries: 0, head: null, faults: [{ kind: 'head_forged' }] };
  const known = (head?.hash === noted?.hash ? [head] : [head, noted]).filter((one) => one !== null);
  const walked = await walkChain(store, head, known);
  const faults = [...walked.faults, ...(await findInserted(store, head?.position))];
  // The sealed head does not change. The next call therefore checks the same entries again and
  // finds the same faults.
  if (faults.length > 0) return { ...walked, faults };
  if (!isMissing) {
    await writeHead(store, head, walked.head);
    return { ...walked, faults };
  }
  // This entry records that the sealed head was missing. The new head also covers the entry.
  await appendAudit(store.query, sealingAuthor, headMissing);
  const again = await walkChain(store, null, known);
  if (again.faults.length === 0) await writeHead(store, null, again.head);
  return { ...again, faults: [...again.faults, { kind: 'head_missing' }] };
}

const sealingAuthor: Author = { actor: { kind: 'local', name: 'settlement' }, requestId: null };
const headMissing: AuditedChange = {
  action: 'audit.head_missing',
  subject: { kind: 'service', id: 'audit' },
  before: null,
  after: null,
};

async function writeHead(
  store: Store,
  before: AuditHead | null,
  head: AuditHead | null,
): Promise<void> {
  if (head === null || head.position === before?.position) return;
  const { position, hash } = head;
  const value = store.sealer.seal(auditHeadPlace(), `${position}:${hash}`);
  await store.query(
    `INSERT INTO audit_head (id, position, head_sealed, at) VALUES (1, $1, $2, svc_now())
     ON CONFLICT (id) DO UPDATE SET position = EXCLUDED.position, head_sealed = EXCLUDED.head_sealed,
       at = EXCLUDED.at WHERE audit_head.position < EXCLUDED.position`,
    [position, value],
  );
}

/**
 * Verifies the chain from the entry `from` to the end, or the whole chain if `from` is null. Also
 * checks the heads in `known`, except those before `from`.
 */
async function walkChain(
  store: Store,
  from: AuditHead | null,
  known: readonly AuditHead[],
): Promise<{ entries: number; head: AuditHead | null; faults: AuditFault[] }> {
  const faults: AuditFault[] = [];
  // The walk begins with the entry `from` itself. That entry must still exist and have the same
  // hash.
  let position = from === null ? 0n : from.position - 1n;
  let previous: Uint8Array | null = from === null ? new Uint8Array() : null;
  let head: AuditHead | null = null;
  let entries = 0;
  for (;;) {
    const page = await readPage(store, position);
    for (const entry of page) {
      if (entry.position !== position + 1n) {
        faults.push({ kind: 'place_removed', position: position + 1n });
        previous = null;
      }
      const fault = faultOf(entry, previous);
      if (fault !== null) faults.push(fault);
      position = entry.position;
      previous = entry.hash;
      head = { position, hash: Buffer.from(entry.hash).toString('hex') };
      if (known.some((one) => one.position === position && one.hash !== head?.hash))
        faults.push({ kind: 'rewritten', position });
      entries += 1;
    }
    if (page.length < rowsPerPage) break;
  }
  for (const one of known) {
    if (one.position > position) faults.push({ kind: 'cut_off', position: one.position });
  }
  return { entries, head, faults };
}

/** `previous` is the hash of the previous entry. If it is null, the hash of `entry` is trusted. */
function faultOf(entry: ChainEntry, previous: Uint8Array | null): AuditFault | null {
  const { position, entryId, text } = entry;
  if (text === null) return { kind: 'removed', position, entryId };
  if (previous === null) return null;
  const hash = createHash('sha256').update(previous).update(text).digest();
  return hash.equals(entry.hash) ? null : { kind: 'changed', position, entryId };
}

async function readPage(store: Store, after: bigint): Promise<ChainEntry[]> {
  const rows = await store.query<{
    position: bigint;
    entry_id: bigint;
    hash: Uint8Array;
    text: string | null;
  }>(
    `SELECT c.position, c.entry_id, c.hash, CASE WHEN l.id IS NOT NULL THEN ${textSql} END AS text
     FROM audit_chain c LEFT JOIN audit_log l ON l.id = c.entry_id
     WHERE c.position > $1::bigint ORDER BY c.position LIMIT $2`,
    [after, rowsPerPage],
  );
  return rows.map(({ entry_id: entryId, ...row }) => ({ ...row, entryId }));
}

/**
 * Finds up to `insertedMax` entries that are in the log but not in the chain. If the position
 * `after` is given, checks only entries with a greater id than the entry there.
 */
async function findInserted({ query }: Store, after: bigint | null = null): Promise<AuditFault[]> {
  const later =
    'l.id > COALESCE((SELECT entry_id FROM audit_chain WHERE position = $2::bigint), 0) AND';
  const rows = await query<{ id: bigint }>(
    `SELECT l.id FROM audit_log l WHERE ${after === null ? '' : later}
       NOT EXISTS (SELECT FROM audit_chain c WHERE c.entry_id = l.id) ORDER BY l.id LIMIT $1`,
    after === null ? [insertedMax] : [insertedMax, after],
  );
  return rows.map(({ id }) => ({ kind: 'inserted', entryId: id }));
}

interface FoundHead {
  readonly head: AuditHead | null;
  readonly isForged: boolean;
  readonly isMissing: boolean;
}

async function readHead(store: Store): Promise<FoundHead> {
  const [row] = await store.query<{ sealed: Uint8Array | null; isOld: boolean }>(
    `SELECT (SELECT head_sealed FROM audit_head WHERE id = 1) AS sealed, EXISTS (
       SELECT FROM audit_log WHERE at < svc_now() - $1 * interval '1 minute') AS "isOld"`,
    [headOverdueMinutes],
  );
  const sealed = row?.sealed ?? null;
  if (sealed === null) return { head: null, isForged: false, isMissing: row?.isOld ?? false };
  try {
    const head = parseAuditHead(unsealText(store.sealer, auditHeadPlace(), sealed));
    return { head: head ?? null, isForged: head === undefined, isMissing: false };
  } catch (error) {
    if (isUnknownKey(error)) throw error;
    return { head: null, isForged: true, isMissing: false };
  }
}

/** Parses a head as `svc audit verify` prints it, `<position>:<hash>`. Undefined if malformed. */
export function parseAuditHead(text: string): AuditHead | undefined {
  const [, position, hash] = /^([1-9]\d{0,17}):([0-9a-f]{64})$/.exec(text) ?? [];
  return position === undefined || hash === undefined
    ? undefined
    : { position: BigInt(position), hash };
}
