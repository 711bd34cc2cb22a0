import { EventEmitter, once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  assignFrameText,
  parseFrameFromNode,
  type FrameFromNodeOf,
  type FrameFromNodeType,
  type SentFrame,
} from '@svc/contracts';
import { sha256Hex, verifyRequest } from '@svc/signing';
import { waitUntil } from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { startAgent, type Agent } from './agent.ts';
import type { Executor, Job } from './executor.ts';
import { simulatedExecutor } from './executors/simulated/simulated.ts';
import { openHistory } from './history.ts';
import { openJournal } from './journal.ts';
import { createObservedAddresses } from './observed-addresses.ts';

export const nodeId = 'nod_01kajh8z2wf5xav9c3q7m4n6rt';
export const secret = 'nsk_secret';

/**
 * The longest wait for a frame. An agent that starts a browser on a busy machine needs several
 * seconds until its first frame.
 */
const frameTimeoutMs = 60_000;

type Received = FrameFromNodeOf<FrameFromNodeType>;

export type ScriptedService = Awaited<ReturnType<typeof startScriptedService>>;

function isOfType<T extends FrameFromNodeType>(
  frame: Received,
  type: T,
): frame is Received & FrameFromNodeOf<T> {
  return frame.type === type;
}

async function listen(http: Server, server: WebSocketServer): Promise<number> {
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  onTestFinished(async () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
    http.close();
    await once(http, 'close');
  });
  return address.port;
}

export async function startScriptedService() {
  const http = createServer();
  const server = new WebSocketServer({ server: http, handleProtocols: () => 'svc.node.v1' });
  const frames: Received[] = [];
  const links = new EventEmitter();
  let current: WebSocket | undefined;
  let verification = 'none';
  server.on('connection', (socket, request) => {
    current = socket;
    verification = verifyRequest({
      secrets: [secret],
      timestamp: request.headersDistinct['x-svc-timestamp']?.[0],
      signature: request.headersDistinct['x-svc-signature']?.[0],
      nowSeconds: Math.floor(Date.now() / 1000),
      method: 'GET',
      target: request.url ?? '',
      bodySha256: sha256Hex(''),
    }).kind;
    socket.on('message', (data: Buffer) => {
      const parsed = parseFrameFromNode(data.toString('utf8'));
      if (parsed.kind === 'bad') throw new Error(`the agent sent a bad frame: ${parsed.message}`);
      frames.push(parsed.frame);
    });
    links.emit('link');
  });
  const port = await listen(http, server);
  const sendText = (text: string): void => current?.send(text);
  const send = (frame: SentFrame): void => sendText(JSON.stringify(frame));

  async function next<T extends FrameFromNodeType>(type: T): Promise<FrameFromNodeOf<T>> {
    return await waitUntil(
      () => {
        const index = frames.findIndex((frame) => frame.type === type);
        const [frame] = index < 0 ? [] : frames.splice(index, 1);
        return frame !== undefined && isOfType(frame, type) ? frame : undefined;
      },
      { what: `the frame ${type}`, timeoutMs: frameTimeoutMs },
    );
  }

  return {
    link: `ws://127.0.0.1:${port}`,
    /** The received frames that `next` has not taken yet. */
    frames,
    /** The `kind` that `verifyRequest` returned for the newest link; `none` before any link. */
    verification: () => verification,
    send,
    sendText,
    next,
    async greet(stop: string[] = [], observedAddress: string | null = null) {
      const hello = await next('hello');
      send({ type: 'welcome', nodeId, heartbeatSeconds: 5, stop, observedAddress });
      return hello;
    },
    async greetInRecovery() {
      const recovery = { incarnation: 2 };
      await next('hello');
      send({ type: 'welcome', nodeId, heartbeatSeconds: 5, stop: [], recovery });
    },
    offer(submissionId: string, offerId: string, sandboxBehaviour?: string) {
      send(offerFrame(submissionId, offerId, sandboxBehaviour));
    },
    assign(submissionId: string, offerId: string, payloadText = '{"atsType":"x"}') {
      const receipt = `receipt of ${submissionId}`;
      sendText(assignFrameText({ offerId, submissionId, receipt, payloadText }));
    },
    close(code: number) {
      current?.close(code);
    },
    cut() {
      current?.terminate();
    },
  };
}

function offerFrame(submissionId: string, offerId: string, sandboxBehaviour?: string): SentFrame {
  return {
    type: 'offer',
    offerId,
    submissionId,
    jobType: 'ats.application',
    tier: 'instant',
    targetHost: 'jobs.example.com',
    maxNodeSeconds: 300,
    expiresInMs: 2_000,
    requestId: 'r',
    ...(sandboxBehaviour === undefined ? {} : { sandboxBehaviour }),
  };
}

/** A state directory for one test. Every agent that `start` starts uses this directory. */
export async function createAgentHome(service: ScriptedService) {
  const stateDir = await mkdtemp(path.join(tmpdir(), 'svc-node-test-'));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }));
  const observed = createObservedAddresses();
  return {
    stateDir,
    observed,
    async start(executor: Executor = simulatedExecutor, slots = 2) {
      const journal = await openJournal(stateDir);
      const history = await openHistory(stateDir);
      const agent: Agent = startAgent({
        link: service.link,
        nodeId,
        secret,
        slots,
        executors: [executor],
        journal,
        history,
        observed,
        log: () => {},
        random: () => 0.01,
      });
      let isOpen = true;
      const stop = async (): Promise<void> => {
        if (!isOpen) return;
        isOpen = false;
        await agent.close();
        await history.close();
        await journal.close();
      };
      onTestFinished(stop);
      return { agent, stop };
    },
    async entry(submissionId: string): Promise<Record<string, unknown> | undefined> {
      const names = [`${submissionId}.json`, `${submissionId}.begun`];
      const name = (await readdir(stateDir)).find((one) => names.includes(one));
      if (name === undefined) return undefined;
      return JSON.parse(await readFile(path.join(stateDir, name), 'utf8'));
    },
  };
}

interface ScriptedCall {
  readonly job: Job;
  readonly submitting: () => Promise<void>;
  readonly finish: () => void;
  readonly fail: (error: Error) => void;
}

export function scriptedExecutor() {
  const calls: ScriptedCall[] = [];
  const executor: Executor = {
    jobType: 'ats.application',
    name: 'scripted',
    version: '1',
    usageIntervalMs: 10,
    run: (job, context) =>
      new Promise((resolve, reject) => {
        context.meter.record({ actions: 1 });
        context.signal.addEventListener('abort', () => reject(new Error('aborted')));
        const finish = (): void => resolve({ confirmationId: 'A-1' });
        calls.push({ job, submitting: () => context.submitting(), finish, fail: reject });
      }),
  };
  return { executor, calls };
}
