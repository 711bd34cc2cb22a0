/** Writes one line of the log that the CLI reads, to standard error. */
export function logLine(level, fields) {
  process.stderr.write(`${JSON.stringify({ level, target: 'schema_engine::logger', fields })}\n`);
}
