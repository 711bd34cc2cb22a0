import type { DispatcherMessage, JobOf, QueueKey } from '@svc/contracts';
import {
  assertJob,
  QueueUnavailable,
  type DispatcherBus,
  type Producer,
  type Reply,
  type ReplyListener,
  type ReplyNews,
} from '@svc/queue';
import type { SimulatedProcess } from '../schedule/process.ts';
import type { Scheduler } from '../schedule/scheduler.ts';

type AnyJob = JobOf[QueueKey];

interface Subscriber {
  readonly process: SimulatedProcess;
  readonly hear: (message: unknown) => void;
}

interface Worker {
  readonly process: SimulatedProcess;
  readonly handle: (job: AnyJob) => Promise<void>;
}

const jobAttemptsMax: Readonly<Record<QueueKey, number>> = {
  dispatch: 1,
  settlement: 3,
  webhook: 1,
};

/**
 * Queues and channels that behave like those of `packages/queue`, but deliver when the seed decides
 * (docs/RELIABILITY.md, "Every order of events").
 */
export class Messaging {
  readonly #scheduler: Scheduler;
  readonly #subscribers = new Map<string, Subscriber>();
  readonly #workers = new Map<QueueKey, Worker[]>();
  readonly #mail = new Map<Subscriber, unknown[]>();
  /** Each submission that a gateway has tried to enqueue. */
  readonly enqueued = new Set<string>();
  /** The functions that remove the waiting jobs, one function for each job. */
  readonly #jobs = new Set<() => void>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  subscribe(channel: string, subscriber: Subscriber): void {
    this.#subscribers.set(channel, subscriber);
  }

  work<K extends QueueKey>(
    key: K,
    process: SimulatedProcess,
    handle: (job: JobOf[K]) => Promise<void>,
  ) {
    const workers = this.#workers.get(key) ?? [];
    this.#workers.set(key, workers);
    workers.push({
      process,
      handle: (job: unknown) => {
        assertJob(key, job);
        return handle(job);
      },
    });
  }

  /** Loses all waiting jobs, like FLUSHALL. */
  flush(): void {
    for (const takeBack of this.#jobs) takeBack();
    this.#jobs.clear();
  }

  /** Returns true if the channel has a live subscriber. The message may still be lost. */
  #publish(channel: string, message: unknown): boolean {
    const subscriber = this.#subscribers.get(channel);
    if (subscriber === undefined || subscriber.process.isDead) return false;
    const waiting = this.#mail.get(subscriber) ?? [];
    this.#mail.set(subscriber, waiting);
    waiting.push(JSON.parse(JSON.stringify(message)));
    if (waiting.length === 1) this.#armMail(subscriber, waiting);
    return true;
  }

  #armMail(subscriber: Subscriber, waiting: unknown[]): void {
    if (waiting.length === 0) return;
    this.#scheduler.enqueue({
      process: subscriber.process,
      name: `hears ${nameOf(waiting[0])}`,
      canFail: true,
      release: (fate) => {
        const message = waiting.shift();
        if (fate === 'go') subscriber.process.run(() => subscriber.hear(message));
        this.#armMail(subscriber, waiting);
      },
    });
  }

  #enqueue(key: QueueKey, job: AnyJob, attempt = 1): void {
    // A run has no webhook service.
    if (key === 'webhook') return;
    const takeBack = this.#scheduler.enqueue({
      process: undefined,
      name: `job ${key}`,
      canFail: true,
      release: (fate) => {
        this.#jobs.delete(takeBack);
        this.#hand(key, job, { attempt, isStrange: fate === 'fail' });
      },
    });
    this.#jobs.add(takeBack);
  }

  /**
   * Hands a job to a live worker. Without one, the job is lost or enqueued again. If `isStrange` is
   * true, the job is lost at once, or it is both handed over and enqueued again.
   */
  #hand(
    key: QueueKey,
    job: AnyJob,
    { attempt, isStrange }: { readonly attempt: number; readonly isStrange: boolean },
  ): void {
    if (isStrange && this.#scheduler.random.chance(0.5)) return;
    if (isStrange) this.#enqueue(key, job, attempt);
    const workers = (this.#workers.get(key) ?? []).filter(({ process }) => !process.isDead);
    // A stalled process takes a job only if all live workers of the queue are stalled.
    const able = workers.filter(({ process }) => !this.#scheduler.isStalled(process));
    const worker = this.#scheduler.random.pick(able.length > 0 ? able : workers);
    if (worker === undefined) {
      if (this.#scheduler.random.chance(0.5)) this.#enqueue(key, job, attempt);
      return;
    }
    const { process, handle } = worker;
    const done = process.run(() => handle(job));
    this.#scheduler.inProcess(process, done, () => {
      if (attempt < jobAttemptsMax[key]) this.#enqueue(key, job, attempt + 1);
    });
  }

  producerOf(process: SimulatedProcess): Producer {
    const enqueueBulk: Producer['enqueueBulk'] = async (key, jobs) => {
      if (jobs.length === 0) return;
      if (key === 'dispatch') {
        for (const { job } of jobs)
          if ('submissionIds' in job) for (const id of job.submissionIds) this.enqueued.add(id);
      }
      const isSent = await this.#scheduler.hold(process, `enqueues ${key}`);
      if (isSent === 'fail') throw new QueueUnavailable('Redis is away');
      for (const { job } of jobs) this.#enqueue(key, job);
      const isHeard = await this.#scheduler.hold(process, `has enqueued ${key}`);
      if (isHeard === 'fail') throw new QueueUnavailable('Redis does not answer');
    };
    return {
      enqueue: (key, job) => enqueueBulk(key, [{ job }]),
      enqueueBulk,
      countWaiting: async () => 0,
      isPaused: async () => false,
      joinWaitingWakeUp: async () => true,
      async close() {},
    };
  }

  async #publishHeld(process: SimulatedProcess, channels: readonly string[], message: unknown) {
    const name = nameOf(message);
    if ((await this.#scheduler.hold(process, `publishes ${name}`)) === 'fail')
      throw new Error('Redis is away');
    const heard = channels.map((channel) => this.#publish(channel, message));
    if ((await this.#scheduler.hold(process, `has published ${name}`)) === 'fail')
      throw new Error('Redis does not answer');
    return heard.includes(true);
  }

  /**
   * Publishes the message in `text` to all dispatchers, and resolves with 0 if none of them is
   * alive, otherwise with 1. If the call throws, the message may still arrive.
   */
  async publishToAll(process: SimulatedProcess, text: string): Promise<number> {
    // `publishCancelled` of `packages/queue` writes this JSON.
    const { message }: { message: unknown } = JSON.parse(text);
    return Number(await this.#publishHeld(process, this.#dispatchersBut(undefined), message));
  }

  #dispatchersBut(dispatcherId: string | undefined): string[] {
    const own = channelOf(dispatcherId ?? '');
    return [...this.#subscribers.keys()].filter(
      (channel) => channel.startsWith(channelOf('')) && channel !== own,
    );
  }

  busOf(
    process: SimulatedProcess,
    dispatcherId: string,
    onMessage: (message: DispatcherMessage) => void,
  ): DispatcherBus {
    const hear = (message: unknown): void => {
      if (isDispatcherMessage(message)) onMessage(message);
    };
    this.subscribe(channelOf(dispatcherId), { process, hear });
    return {
      send: async (to, message) => {
        if (to !== dispatcherId) return await this.#publishHeld(process, [channelOf(to)], message);
        queueMicrotask(() => {
          if (!process.isDead) onMessage(message);
        });
        return true;
      },
      broadcast: async (message) => {
        await this.#publishHeld(process, this.#dispatchersBut(dispatcherId), message);
      },
      isListening: () => true,
      listening: async () => true,
      async close() {},
    };
  }

  replierOf(process: SimulatedProcess): (channel: string, reply: Reply) => Promise<void> {
    return async (channel, reply) => {
      await this.#publishHeld(process, [channel], reply);
    };
  }

  listenerOf(process: SimulatedProcess): ReplyListener {
    const channel = `replies:${process.name}`;
    const waiting = new Map<string, Set<(news: ReplyNews | 'timeout') => void>>();
    const hear = (message: unknown): void => {
      if (!isReply(message)) return;
      const { submissionId, news } = message;
      for (const settle of waiting.get(submissionId) ?? []) settle(news);
    };
    this.subscribe(channel, { process, hear });
    return {
      channel,
      wait: (submissionId, timeoutMs) =>
        new Promise((resolve) => {
          const waiters = waiting.get(submissionId) ?? new Set();
          waiting.set(submissionId, waiters);
          const settle = (news: ReplyNews | 'timeout'): void => {
            clear();
            waiters.delete(settle);
            resolve(news);
          };
          const clear = process.after(timeoutMs, () => settle('timeout'));
          waiters.add(settle);
        }),
      isListening: () => true,
      async close() {},
    };
  }
}

function channelOf(dispatcherId: string): string {
  return `dispatcher:${dispatcherId}`;
}

/**
 * A type guard for the messages of the bus. Only the simulated services publish them, so a check
 * of `kind` is enough.
 */
function isDispatcherMessage(message: unknown): message is DispatcherMessage {
  return typeof message === 'object' && message !== null && 'kind' in message;
}

function isReply(message: unknown): message is Reply {
  return typeof message === 'object' && message !== null && 'news' in message;
}

function nameOf(message: unknown): string {
  if (typeof message !== 'object' || message === null) return 'a message';
  if ('kind' in message) return String(message.kind);
  return 'news' in message ? `reply ${String(message.news)}` : 'a message';
}
