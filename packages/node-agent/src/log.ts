import { eventOf } from './log-events.ts';

/**
 * Writes one JSON line to standard output for each call. Callers pass no payload, no result and no
 * secret. `message` decides the event of the line (docs/LOGS.md). A call whose message is not fixed
 * passes `event` in `fields`.
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
