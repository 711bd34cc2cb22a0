import http from 'node:http';
import { Worker } from 'bullmq';
import got from 'got';
import { Redis } from 'ioredis';
import { plainQueue, type PlainJob } from './plain-queue.ts';

/**
 * The baseline for deliveries: a BullMQ worker that posts the body that its job contains, and
 * stores no record of the attempt.
 */
const concurrency = 64;
const agent = new http.Agent({ keepAlive: true, maxFreeSockets: concurrency });
const redis = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
const worker = new Worker<PlainJob>(
  plainQueue,
  async ({ data: { url, body, id } }) => {
    await got.post(url, {
      body,
      agent: { http: agent },
      headers: { 'content-type': 'application/json', 'x-svc-delivery': id },
      retry: { limit: 0 },
      followRedirect: false,
      timeout: { request: 15_000 },
    });
  },
  { connection: redis, concurrency },
);
await worker.waitUntilReady();
process.stdout.write(`${JSON.stringify({ msg: 'ready' })}\n`);
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
