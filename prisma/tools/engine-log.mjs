/** One line of the log that the CLI reads, on standard error. */
export function logLine(level, fields) {
  process.stderr.write(`${JSON.stringify({ level, target: 'schema_engine::logger', fields })}\n`);
}
