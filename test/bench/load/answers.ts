import { monotonicMs } from './clock.ts';
import type { Connection } from './connection.ts';
import type { Load, Post } from './messages.ts';
import { submissionIdIn, submissionRequest } from './request.ts';

/** The answers of a run so far. */
export class Answers {
  readonly posts: Post[] = [];
  readonly refused: Record<string, number> = {};
  readonly #load: Load;

  constructor(load: Load) {
    this.#load = load;
  }

  /**
   * Sends the request with this index, and records its answer. Without `dueAtMs`, the request is
   * due at the instant at which it is sent.
   */
  async post(connection: Connection, index: number, dueAtMs?: number): Promise<void> {
    const { tenants } = this.#load;
    const tenant = tenants[index % tenants.length];
    if (tenant === undefined) throw new Error('the load has no tenants');
    const request = submissionRequest(tenant, connection.host);
    const sentAtMs = monotonicMs();
    const { status, body } = await connection.ask(request);
    const answeredAtMs = monotonicMs();
    if (status !== 201) return this.refuse(status);
    const submissionId = submissionIdIn(body) ?? '';
    this.posts.push({ submissionId, dueAtMs: dueAtMs ?? sentAtMs, answeredAtMs });
  }

  refuse(status: number): void {
    this.refused[status] = (this.refused[status] ?? 0) + 1;
  }
}
