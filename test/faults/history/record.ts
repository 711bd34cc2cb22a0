import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ReceivedWebhook } from '@svc/local';
import type { HistoryRecord, Status } from '../../history/history.ts';
import type { Recorder } from '../../history/recorder.ts';
import type { Http } from '../load/http.ts';
import { microsOf, textOf } from '../load/json.ts';
import type { NodeLine } from '../node/node-log.ts';
import type { NodeUnderTest } from '../world/types.ts';
import { recordsOfExchange } from './exchange.ts';

export function recordedHttp(http: Http, recorder: Recorder): Http {
  return {
    async ask(baseUrl, question) {
      const beginMs = recorder.nowMs();
      const answer = await http.ask(baseUrl, question);
      const interval = { beginMs, endMs: recorder.nowMs() };
      for (const record of recordsOfExchange(question, answer, interval)) recorder.add(record);
      return answer;
    },
    close: () => http.close(),
  };
}

const endOf: Readonly<Record<string, Status>> = {
  'submission.completed': 'submitted',
  'submission.failed': 'failed',
  'submission.cancelled': 'cancelled',
};

export function recordWebhook(
  recorder: Recorder,
  { tenant, url }: { readonly tenant: string; readonly url: string },
  { event }: ReceivedWebhook,
): void {
  const atMs = recorder.nowMs();
  const submissionId = textOf(event.data['submissionId']);
  const { id: eventId, type } = event;
  recorder.add({ kind: 'webhook', tenant, url, eventId, type, submissionId, atMs });
  const status = endOf[type];
  if (status === undefined || submissionId === null) return;
  const chargedMicros = microsOf(event.data['actualCredits']);
  recorder.add(reached(submissionId, status, chargedMicros, 'webhook', atMs));
}

function reached(
  submissionId: string,
  status: Status,
  chargedMicros: bigint | null,
  source: string,
  atMs: number,
): HistoryRecord {
  return {
    kind: 'status',
    submissionId,
    status,
    chargedMicros,
    source,
    how: 'reached',
    beginMs: atMs,
    endMs: atMs,
  };
}

const lookEveryMs = 200;

/** Records each assignment and each begin that a node logs. `stop` reads the remaining lines. */
export function followNodes(
  recorder: Recorder,
  nodes: readonly NodeUnderTest[],
): { stop(): Promise<void> } {
  const offsets = new Map<string, number>();
  let looking = Promise.resolve();
  const look = async (): Promise<void> => {
    for (const { logFile } of nodes) await readOn(recorder, logFile, offsets);
  };
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, lookEveryMs);
  return {
    async stop() {
      clearInterval(timer);
      await looking;
      await look();
    },
  };
}

const frames: Partial<Record<NodeLine['what'], Status>> = {
  assigned: 'dispatched',
  begun: 'running',
};

async function readOn(
  recorder: Recorder,
  file: string,
  offsets: Map<string, number>,
): Promise<void> {
  if (!existsSync(file)) return;
  let offset = offsets.get(file) ?? 0;
  // Each line is written by one append, so the file never ends with a part of a line.
  for await (const line of createInterface({ input: createReadStream(file, { start: offset }) })) {
    offset += Buffer.byteLength(line) + 1;
    const entry: NodeLine = JSON.parse(line);
    const status = frames[entry.what];
    if (status === undefined || !('submissionId' in entry)) continue;
    // Records the time of the reading, because the node's clock may differ from that of `recorder`.
    recorder.add(reached(entry.submissionId, status, null, 'node', recorder.nowMs()));
  }
  offsets.set(file, offset);
}
