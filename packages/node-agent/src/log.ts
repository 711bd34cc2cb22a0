import { eventOf } from './log-events.ts';

/**
 * Writes JSON lines to standard output. Never logs a payload, a result or a secret. The
 * message decides the event of the line (docs/LOGS.md). A call without a fixed message names the event.
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
