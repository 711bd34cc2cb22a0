/** Writes JSON lines to standard output. Never logs a payload, a result or a secret. */
export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export function createLog(nodeId: string): Log {
  return (level, message, fields = {}) => {
    const time = new Date().toISOString();
    const line = JSON.stringify({ level, time, service: 'node', nodeId, ...fields, msg: message });
    process.stdout.write(`${line}\n`);
  };
}
