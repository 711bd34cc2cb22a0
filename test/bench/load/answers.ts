import { monotonicMs } from './clock.ts';
import type { Connection } from './connection.ts';
import type { Load, Post } from './messages.ts';
import { submissionIdIn, submissionRequest } from './request.ts';

export class Answers {
  readonly posts: Post[] = [];
  readonly refused: Record<string, number> = {};
  readonly #load: Load;

  constructor(load: Load) {
    this.#load = load;
  }

  /** Without `dueAtMs`, the request counts as due when it is sent. */
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
