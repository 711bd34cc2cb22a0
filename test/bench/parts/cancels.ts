import { randomUUID } from 'node:crypto';
import { createClient, type Client } from '@svc/client';
import { parseFrameToNode } from '@svc/contracts';
import { linkRequest, openLinkSocket } from '@svc/testkit';
import type { LinkTo, LoadTenant } from '../load/messages.ts';
import { textOf } from '../load/text-of.ts';

/**
 * Milliseconds from a tenant's cancel until the node gets the `cancel` frame. The tenants and the
 * nodes run in one process, so one clock measures both moments.
 */
export interface CancelLatencies {
  /**
   * The time from just before the tenant sends the cancel until the node gets the `cancel` frame.
   */
  readonly fromRequestMs: readonly number[];
  /**
   * The time from the tenant's `200` until the node gets the `cancel` frame. 0 if the node gets the
   * frame before the tenant gets the `200`.
   */
  readonly fromAnswerMs: readonly number[];
}

export interface Cancelling {
  readonly gatewayUrl: string;
  readonly tenants: readonly LoadTenant[];
  readonly nodes: readonly LinkTo[];
  readonly cancels: number;
  readonly atOnce: number;
}

const slotsPerNode = 100;
const eventMsMax = 30_000;

export async function measureCancels(options: Cancelling): Promise<CancelLatencies> {
  const { gatewayUrl: baseUrl, tenants, atOnce } = options;
  const begun = new Moments('begin');
  const cancelled = new Moments('cancel');
  const sockets = await Promise.all(options.nodes.map((node) => link(node, begun, cancelled)));
  const clients = tenants.map(({ tenantId, hmacSecret: secret }) =>
    createClient({ baseUrl, tenantId, secret, maxRetries: 0 }),
  );
  const fromRequestMs: number[] = [];
  const fromAnswerMs: number[] = [];
  let left = options.cancels;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const client = clientAt(clients, left);
      const { submissionId } = await client.submit(submission());
      await begun.of(submissionId);
      const askedMs = performance.now();
      await client.cancel(submissionId);
      const answeredMs = performance.now();
      const heardMs = await cancelled.of(submissionId);
      fromRequestMs.push(heardMs - askedMs);
      fromAnswerMs.push(Math.max(0, heardMs - answeredMs));
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    for (const socket of sockets) socket.terminate();
  }
  return { fromRequestMs, fromAnswerMs };
}

/**
 * The arrival times of one type of frame, by submission. A caller can ask once for each submission,
 * before or after the arrival.
 */
class Moments {
  readonly #what: string;
  readonly #came = new Map<string, PromiseWithResolvers<number>>();

  constructor(what: string) {
    this.#what = what;
  }

  now(submissionId: string): void {
    this.#entry(submissionId).resolve(performance.now());
  }

  /**
   * Returns the time at which the submission's frame arrived, by `performance.now()`. Throws if no
   * frame arrives within `eventMsMax` after the call.
   */
  async of(submissionId: string): Promise<number> {
    const { promise, reject } = this.#entry(submissionId);
    const error = new Error(
      `no ${this.#what} frame for ${submissionId} arrived within ${eventMsMax} ms`,
    );
    const timer = setTimeout(() => reject(error), eventMsMax);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#came.delete(submissionId);
    }
  }

  #entry(submissionId: string): PromiseWithResolvers<number> {
    const entry = this.#came.get(submissionId) ?? Promise.withResolvers<number>();
    this.#came.set(submissionId, entry);
    return entry;
  }
}

async function link(node: LinkTo, begun: Moments, cancelled: Moments) {
  const socket = await openLinkSocket(linkRequest(node));
  const send = (frame: object): void => socket.send(JSON.stringify(frame));
  const welcomed = new Promise((resolve) => socket.once('message', resolve));
  socket.on('error', () => {});
  socket.on('message', (data) => {
    const parsed = parseFrameToNode(textOf(data));
    if (parsed.kind === 'bad') throw new Error(`the service sent a bad frame: ${parsed.message}`);
    const { frame } = parsed;
    if (frame.type === 'offer') send({ type: 'accept', offerId: frame.offerId });
    if (frame.type === 'assign') send({ type: 'start', submissionId: frame.submissionId });
    if (frame.type === 'begin') begun.now(frame.submissionId);
    if (frame.type === 'cancel') {
      cancelled.now(frame.submissionId);
      send({ type: 'stopped', submissionId: frame.submissionId, usage: {} });
    }
  });
  const jobTypes = ['ats.application'];
  send({ type: 'hello', agentVersion: 'bench', jobTypes, slots: slotsPerNode, running: [] });
  await welcomed;
  return socket;
}

function clientAt(clients: readonly Client[], index: number): Client {
  const client = clients[index % clients.length];
  if (client === undefined) throw new Error('no tenants');
  return client;
}

function submission() {
  return {
    idempotencyKey: randomUUID(),
    jobType: 'ats.application',
    tier: 'instant',
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType: 'greenhouse',
      applicantProfile: { name: 'Ana Pérez' },
      jobContext: { title: 'Welder', company: 'Example Works' },
    },
  } as const;
}
