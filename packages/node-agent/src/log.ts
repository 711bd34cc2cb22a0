import { eventOf } from './log-events.ts';

/**
 * Writes one JSON line to standard output. Callers pass no payload, result or secret. A call whose
 * message is not fixed passes `event` in `fields` (docs/LOGS.md).
 */
export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export function createLog(nodeId: string): Log {
  return (level, message, fields = {}) => {
    const time = new Date().toISOString();
    const about = { level, time, service: 'node', nodeId, event: eventOf(message) };
    const line = JSON.stringify({ ...about, ...fields, msg: message });
    process.stdout.write(`${line}\n`);
  };
}
