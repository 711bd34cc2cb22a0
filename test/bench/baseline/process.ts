import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

const concurrency = 64;
const finishedJobsMax = 1_000;

export interface DispatchJob {
  readonly submissionId: string;
  readonly jobType: string;
  readonly tier: string;
  readonly targetHost: string;
  readonly requestId: string;
}

interface Hop<Job> {
  readonly name: string;
  /** This member is never set. It gives the compiler the type of the jobs. */
  readonly sample?: Job;
}

const dispatch: Hop<DispatchJob> = { name: 'baseline-dispatch' };
const settlement: Hop<{ submissionId: string }> = { name: 'baseline-settlement' };
const webhook: Hop<{ eventId: string }> = { name: 'baseline-webhook' };
export const hops = { dispatch, settlement, webhook };

export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

export function openRedis(): Redis {
  return new Redis(setting('REDIS_URL'), { maxRetriesPerRequest: null });
}

export function openQueue<Job>({ name }: Hop<Job>): Queue<Job> {
  return new Queue<Job>(name, {
    connection: openRedis(),
    // If a completed job were removed at once, the process that waits for the job could find it
    // missing and get an error.
    defaultJobOptions: { removeOnComplete: { count: finishedJobsMax }, removeOnFail: true },
  });
}

export function work<Job>({ name }: Hop<Job>, run: (job: Job) => Promise<unknown>): void {
  const worker = new Worker<Job, unknown>(name, (job) => run(job.data), {
    connection: openRedis(),
    concurrency,
  });
  worker.on('error', (error) => console.error(error));
  worker.on('failed', (_job, error) => console.error(error));
}

/** Prints the line for which `startServiceProcess` waits. */
export function sayReady(ready: { port?: number } = {}): void {
  process.stdout.write(`${JSON.stringify({ msg: 'ready', ...ready })}\n`);
}
