import { connectScriptedNode, linkRequest, openLinkSocket, waitUntil } from '@svc/testkit';
import type { NodeIdentity, ScriptedNode, TenantCredentials } from '@svc/testkit';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { auditMoney } from '../support/audit.ts';
import { job } from '../support/job.ts';
import { svcOn } from '../support/svc.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';
import { send, signedBy } from '../support/wire.ts';
import { visits, type HostileFrame, type Visit } from './link-frames.ts';

/**
 * Sends generated frames to two live dispatchers while honest nodes work there. FUZZ_SEED repeats a
 * run, FUZZ_FRAMES sets its length.
 */

const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const framesCount = Number(process.env['FUZZ_FRAMES'] ?? 4_000);
/** The frames of the recovery, whose frames are few. */
const recoveryFramesCount = Math.ceil(framesCount / 4);
const hostileNodes = 4;
const framesPerVisit = 80;
const framesPerJob = 100;
const visitTimeoutMs = 30_000;

let whole: WholeStack;
let tenant: TenantCredentials;
let honest: ScriptedNode[];
/**
 * Ids of the tenant's last 50 jobs, for the frames of the hostile nodes. Honest nodes run these
 * jobs, so no frame of a hostile node may change them.
 */
const known: string[] = [];
/** The receipts of the honest nodes. The frames name them only during a recovery. */
const receipts: string[] = [];

beforeAll(async () => {
  whole = await startWholeStack({ gateways: 1, dispatchers: 2 });
  tenant = await whole.tenant({ grantCredits: 10_000_000 });
  const second = await whole.stack.createNode('honest');
  const other = await connectScriptedNode({
    link: whole.stack.nodeLinkUrls[1] ?? '',
    nodeId: second.nodeId,
    secret: second.nodeSecret,
    slots: 4,
  });
  other.autoPilot();
  honest = [whole.node, other];
});
afterAll(async () => {
  await honest[1]?.close();
  await whole.close();
});

interface Run {
  /** The number of frames after which the attack ends. */
  readonly framesMax: number;
  sent: number;
  readonly closeCodes: Record<string, number>;
  readonly created: string[];
  readonly violations: string[];
}

test(
  `${framesCount} hostile frames end no process, close no honest link and change no honest job`,
  { timeout: 120_000 + framesCount * 20 },
  async () => {
    process.stdout.write(`FUZZ_SEED=${seed} FUZZ_FRAMES=${framesCount}\n`);
    const run: Run = {
      framesMax: framesCount,
      sent: 0,
      closeCodes: {},
      created: [],
      violations: [],
    };
    const startedMs = performance.now();
    const startsBefore = await processStarts();
    await Promise.all([
      ...Array.from({ length: hostileNodes }, (_, index) => attack(run, index)),
      work(run),
    ]);
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const bad = await badFrames();
    process.stdout.write(
      `${run.sent} frames in ${seconds} s during ${run.created.length} jobs; close codes ${JSON.stringify(run.closeCodes)}; bad frames ${JSON.stringify(bad)}\n`,
    );
    expect(run.violations).toEqual([]);
    expect(run.sent).toBeGreaterThanOrEqual(framesCount);
    // `unhandled_frame` would mean that the service threw while it handled a frame.
    expect(bad['unhandled_frame'] ?? 0).toBe(0);
    expect(bad['malformed_frame']).toBeGreaterThan(0);
    expect(bad['invalid_frame']).toBeGreaterThan(0);
    expect(Object.keys(run.closeCodes).filter((code) => !allowedCodes.has(code))).toEqual([]);
    expect(await processStarts()).toEqual(startsBefore);
    await expectJobsUntouched(run);
  },
);

test(
  `${recoveryFramesCount} hostile frames during a recovery insert and change no submission`,
  { timeout: 120_000 + framesCount * 20 },
  async () => {
    const { query } = whole.stack;
    const svc = svcOn(whole.stack);
    await svc.json('recovery', 'begin');
    for (const { frames } of honest) {
      for (const frame of frames) {
        if (frame.type === 'assign' && frame.receipt !== undefined) receipts.push(frame.receipt);
      }
    }
    expect(receipts.length).toBeGreaterThan(0);
    const rows = 'SELECT id, state, node_id, charged_micros FROM submissions ORDER BY id';
    const before = await query(rows);
    const startsBefore = await processStarts();
    const unhandledBefore = (await badFrames())['unhandled_frame'] ?? 0;
    const found = { closeCodes: {}, created: [], violations: [] };
    const run: Run = { framesMax: recoveryFramesCount, sent: 0, ...found };
    await Promise.all(
      Array.from({ length: hostileNodes }, (_, index) => attack(run, hostileNodes + index)),
    );
    expect(run.violations).toEqual([]);
    expect(run.sent).toBeGreaterThanOrEqual(recoveryFramesCount);
    expect((await badFrames())['unhandled_frame'] ?? 0).toBe(unhandledBefore);
    expect(Object.keys(run.closeCodes).filter((code) => !allowedCodes.has(code))).toEqual([]);
    expect(await processStarts()).toEqual(startsBefore);
    expect(await query(rows)).toEqual(before);
    expect(await query('SELECT node_id FROM recovery_unreadable')).not.toEqual([]);
    expect(await auditMoney(query)).toEqual([]);
    await svc.json('recovery', 'end', '--force', '--yes');
  },
);

/**
 * The service closes a link with 1007, 1008 or 1009 because of bad frames. `visit` closes the link
 * with 1000 after the last frame.
 */
const allowedCodes = new Set(['1000', '1007', '1008', '1009']);

async function attack(run: Run, index: number): Promise<void> {
  const { nodeId, nodeSecret: secret } = await whole.stack.createNode(`hostile ${index}`);
  const links = whole.stack.nodeLinkUrls;
  for (let round = 0; run.sent < run.framesMax; round += 1) {
    const link = links[(index + round) % links.length] ?? '';
    const [plan] = fc.sample(
      visits({ submissionIds: () => known, receipts: () => receipts }, framesPerVisit),
      {
        numRuns: 1,
        seed: seed + index * 1_000_000 + round,
      },
    );
    if (plan === undefined) throw new Error('the generator made no plan');
    try {
      const code = await visit(run, { link, nodeId, secret }, plan);
      run.closeCodes[code] = (run.closeCodes[code] ?? 0) + 1;
    } catch (error) {
      run.violations.push(`hostile ${index}, round ${round}: ${String(error)}`);
      return;
    }
  }
}

/** Resolves with the close code of the link. */
async function visit(run: Run, identity: NodeIdentity, plan: Visit): Promise<number> {
  const socket = await openLinkSocket(linkRequest(identity));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  const sendAll = (frames: readonly HostileFrame[]): void => {
    for (const { data, isBinary } of frames) {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(data, { binary: isBinary });
      run.sent += 1;
    }
  };
  sendAll(plan.before);
  const answered = answerOf(socket, ({ type }) => type === 'welcome' || type === 'error');
  sendAll([plan.hello]);
  // The service may close the link here. Without this wait, `sendAll` could count frames of
  // `plan.after` that the service ignores.
  await Promise.race([answered, closed]);
  const done = answerOf(socket, (frame) => frame['submissionId'] === 'sub_done');
  sendAll([...plan.after, doneFrame]);
  await Promise.race([done, closed]);
  socket.close(1000);
  const timer = setTimeout(() => socket.terminate(), visitTimeoutMs);
  const code = await closed;
  clearTimeout(timer);
  return code;
}

const doneFrame: HostileFrame = {
  data: '{"type":"stopped","submissionId":"sub_done","usage":{}}',
  isBinary: false,
};

async function answerOf(
  socket: WebSocket,
  isWanted: (frame: Readonly<Record<string, unknown>>) => boolean,
): Promise<void> {
  await new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      if (isWanted(JSON.parse(data.toString('utf8')))) resolve();
    });
  });
}

async function work(run: Run): Promise<void> {
  for (let posted = 0; run.sent < framesCount && run.violations.length === 0; posted += 1) {
    const body = job(`fuzz-${posted}`);
    const wire = signedBy(tenant, { method: 'POST', target: '/v1/submissions', body });
    const answer = await send(whole.stack.gatewayUrl, wire);
    if (answer.status !== 201) {
      run.violations.push(`job ${posted}: ${answer.status} ${answer.text}`);
      return;
    }
    const id = String(answer.body['submissionId']);
    run.created.push(id);
    known.unshift(id);
    known.length = Math.min(known.length, 50);
    const nextAt = (posted + 1) * framesPerJob;
    await waitUntil(() => run.sent >= Math.min(nextAt, framesCount) || run.violations.length > 0, {
      what: 'the next frames',
      timeoutMs: 120_000,
    });
  }
}

async function expectJobsUntouched({ created }: Run): Promise<void> {
  const { query } = whole.stack;
  await waitUntil(
    async () => {
      const [row] = await query<{ open: number }>(
        `SELECT count(*)::int AS open FROM submissions WHERE state NOT IN ('submitted', 'failed', 'cancelled', 'rejected')`,
      );
      return row?.open === 0;
    },
    { what: 'the last settlement', timeoutMs: 60_000 },
  );
  const states = await query<{ state: string; count: number }>(
    'SELECT state, count(*)::int AS count FROM submissions GROUP BY state',
  );
  expect(states).toEqual([{ state: 'submitted', count: created.length }]);
  // The link of each honest node is still open: the service answers a frame on it.
  for (const node of honest) {
    node.send({ type: 'stopped', submissionId: 'sub_alive', usage: {} });
    await node.next('ack', { where: ({ submissionId }) => submissionId === 'sub_alive' });
    expect(node.frames.filter(({ type }) => type === 'error')).toEqual([]);
  }
  expect(await auditMoney(query)).toEqual([]);
}

async function metricsOf(index: number): Promise<string> {
  const response = await fetch(`${whole.stack.adminUrl('dispatcher', index)}/metrics`);
  return await response.text();
}

/** Returns the start time of each dispatcher. A restart of a dispatcher changes its time. */
async function processStarts(): Promise<(string | undefined)[]> {
  const texts = await Promise.all([metricsOf(0), metricsOf(1)]);
  return texts.map((text) => /^process_start_time_seconds\{.*\} (\S+)$/m.exec(text)?.[1]);
}

async function badFrames(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of [await metricsOf(0), await metricsOf(1)]) {
    for (const [, code = '', count] of text.matchAll(
      /^svc_dispatcher_bad_frames_total\{.*code="(\w+)".*\} (\d+)$/gm,
    )) {
      counts[code] = (counts[code] ?? 0) + Number(count);
    }
  }
  return counts;
}
