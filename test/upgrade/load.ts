import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@svc/client';
import { waitUntil } from '@svc/testkit';
import { application } from '../support/journey.ts';

export interface Load {
  readonly errors: readonly string[];
  endedIds(): string[];
  /** Waits until `more` further submissions were created and have ended. Throws after 60 s. */
  settled(more: number): Promise<void>;
  stop(): Promise<void>;
  /** The submissions whose record has changed since their end, or that did not succeed. */
  moved(): Promise<string[]>;
}

const intervalMs = 100;
const endTimeoutMs = 60_000;

export function startLoad(client: Client): Load {
  const errors: string[] = [];
  const ends = new Map<string, string>();
  const following: Promise<void>[] = [];
  const stopping = new AbortController();
  const note = (what: string) => (error: unknown) => void errors.push(`${what}: ${String(error)}`);
  const follow = async (id: string) => {
    const ended = await client.waitFor(id, { timeoutMs: endTimeoutMs });
    ends.set(id, JSON.stringify(ended));
  };
  const submitAll = async () => {
    for (let n = 0; !stopping.signal.aborted; n += 1) {
      await client
        .submit(application(`load-${n}`))
        .then(
          ({ submissionId }) => void following.push(follow(submissionId).catch(note(submissionId))),
          note(`creation ${n}`),
        );
      await pause(intervalMs);
    }
  };
  const submitting = submitAll();
  return {
    errors,
    endedIds: () => [...ends.keys()],
    async settled(more) {
      const first = following.length;
      const isSettled = async () => following.length >= first + more && ends.size >= first + more;
      await waitUntil(isSettled, {
        what: `${more} more submissions to end`,
        timeoutMs: endTimeoutMs,
      });
    },
    async stop() {
      stopping.abort();
      await submitting;
      await Promise.all(following);
    },
    async moved() {
      const moved: string[] = [];
      for (const [id, end] of ends) {
        const now = await client.getSubmission(id);
        if (JSON.stringify(now) !== end || now.status !== 'submitted') moved.push(`${id}: ${end}`);
      }
      return moved;
    },
  };
}
