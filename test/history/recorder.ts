import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { History, HistoryRecord } from './history.ts';

export interface Recorder {
  /** Milliseconds of the clock that every record of this history uses. */
  nowMs(): number;
  add(record: HistoryRecord): void;
  history(): History;
}

export function createRecorder(nowMs: () => number = () => performance.now()): Recorder {
  const records: HistoryRecord[] = [];
  return { nowMs, add: (record) => void records.push(record), history: () => records };
}

/** The recorder of a run whose history is not checked. It keeps no records. */
export const forgetful: Recorder = {
  nowMs: () => performance.now(),
  add: () => {},
  history: () => [],
};

const linesPerWrite = 5_000;

/** Writes one record per line, as JSON. Amounts are decimal digits in a string. */
export async function saveHistory(file: string, history: History): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (let from = 0; from < history.length; from += linesPerWrite) {
      const lines = history.slice(from, from + linesPerWrite).map((one) => `${toLine(one)}\n`);
      await handle.writeFile(lines.join(''));
    }
  } finally {
    await handle.close();
  }
}

/** Reads what `saveHistory` wrote. Throws if a line is not a record. */
export async function loadHistory(file: string): Promise<HistoryRecord[]> {
  const records: HistoryRecord[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line !== '') records.push(fromLine(line));
  }
  return records;
}

function toLine(record: HistoryRecord): string {
  return JSON.stringify(record, (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
}

function fromLine(line: string): HistoryRecord {
  const record: unknown = JSON.parse(line, (name, value: unknown) =>
    name.endsWith('Micros') && typeof value === 'string' ? BigInt(value) : value,
  );
  if (!isRecord(record)) throw new Error(`this line is not a record of a recorded run: ${line}`);
  return record;
}

const kinds: ReadonlySet<unknown> = new Set<HistoryRecord['kind']>([
  'create',
  'reject',
  'cancel',
  'status',
  'balance',
  'grant',
  'rebate',
  'url',
  'webhook',
  'line',
  'statement',
  'rest',
]);

function isRecord(value: unknown): value is HistoryRecord {
  return typeof value === 'object' && value !== null && 'kind' in value && kinds.has(value.kind);
}
