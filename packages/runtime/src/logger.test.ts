import { expect, test } from 'vitest';
import { changeLogLevel, createLogger, withRequestId } from './logger.ts';

function logged(write: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown> {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  write(createLogger({ service: 'example', level: 'info', destination }));
  expect(lines).toHaveLength(1);
  const parsed: unknown = JSON.parse(lines[0] ?? '');
  if (typeof parsed !== 'object' || parsed === null) throw new Error('not an object');
  return { ...parsed };
}

test('a line is one JSON object with service, level, time, request id and message', () => {
  const line = logged((logger) => withRequestId(logger, 'req-1').info({ count: 2n }, 'done'));
  expect(line).toMatchObject({
    service: 'example',
    level: 'info',
    requestId: 'req-1',
    msg: 'done',
    count: '2',
  });
  expect(String(line['time'])).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('a line names the event of its message, unless the call names it', () => {
  const settled = logged((logger) => logger.info({ charged: '1.5' }, 'settled'));
  expect(settled['event']).toBe('settlement.submission_settled');
  expect(logged((logger) => logger.info('stopped'))['event']).toBe('process.stopped');
  const reason = logged((logger) => logger.fatal({ event: 'process.cannot_start' }, 'settled'));
  expect(reason['event']).toBe('process.cannot_start');
});

test.each([
  'payload',
  'applicantProfile',
  'jobContext',
  'secret',
  'hmacSecrets',
  'Authorization',
  'x-svc-signature',
  'X-SVC-Signature',
  'webhook-signature',
  'DATABASE_URL',
  'SVC_MASTER_KEY',
])('%s is redacted everywhere in a line', (name) => {
  const nested = { [name]: 'hunter2', deeper: [{ [name]: { value: 'hunter2' } }] };
  const text = JSON.stringify(logged((logger) => logger.info({ [name]: 'hunter2', nested }, 'x')));
  expect(text).not.toContain('hunter2');
  expect(text.match(/\[redacted\]/g)).toHaveLength(3);
});

test('the fields of a child logger are redacted too', () => {
  const line = logged((logger) => logger.child({ payload: 'hunter2' }).info('x'));
  expect(line['payload']).toBe('[redacted]');
});

test('an error is logged with name, message, code, stack and causes, and no other member', () => {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const error = Object.assign(new TypeError('outer', { cause }), {
    options: { headers: { authorization: 'hunter2' }, body: 'hunter2' },
  });
  const attempts = [{ error }];
  const line = logged((logger) => logger.error({ err: error, attempts }, 'failed'));
  const described = {
    type: 'TypeError',
    message: 'outer',
    cause: { type: 'Error', message: 'refused', code: 'ECONNREFUSED' },
  };
  expect(line['err']).toMatchObject(described);
  expect(line['attempts']).toMatchObject([{ error: described }]);
  expect(JSON.stringify(line)).not.toContain('hunter2');
});

test('an error that stands for several is logged with the first three', () => {
  const errors = [1, 2, 3, 4].map(
    (n) => new Error(`failure ${n}`, { cause: new Error('refused') }),
  );
  const failed = new AggregateError(errors, '4 submissions could not be settled');
  const line = logged((logger) => logger.error({ err: failed }, 'failed'));
  const cause = { message: 'refused' };
  expect(line['err']).toMatchObject({
    type: 'AggregateError',
    message: '4 submissions could not be settled',
    errors: [1, 2, 3].map((n) => ({ message: `failure ${n}`, cause })),
  });
});

test('a cyclic or very deep object can be logged', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  expect(logged((logger) => logger.info({ cyclic }, 'x'))['msg']).toBe('x');
});

test('binary data is logged as its size only', () => {
  const line = logged((logger) => logger.info({ raw: Buffer.from('hunter2') }, 'x'));
  expect(line['raw']).toBe('[7 bytes]');
});

test('a changed level applies to existing children, and ends with the configured one', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line).msg) };
  const logger = createLogger({ service: 'example', level: 'warn', destination });
  const child = withRequestId(logger, 'req-1');
  const say = (text: string): void => {
    child.debug(`${text} debug`);
    child.warn(`${text} warn`);
  };
  say('before');
  changeLogLevel(logger, 'debug');
  say('while');
  changeLogLevel(logger, null);
  say('after');
  expect(lines).toEqual([
    'before warn',
    'log level changed',
    'while debug',
    'while warn',
    'log level changed',
    'after warn',
  ]);
});

test('a silent logger writes nothing', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  createLogger({ service: 'example', level: 'silent', destination }).fatal('x');
  expect(lines).toEqual([]);
});
