import type { Replied } from '../world/gateway.ts';
import type { Auditor } from './auditor.ts';

interface Asked {
  readonly name: string;
  readonly key: string;
  readonly what: 'create' | 'cancel' | 'settings';
  readonly askedAtMs: number;
  /** True until the gateway process that got the request has died. */
  readonly isWaited: () => boolean;
  isAnswered: boolean;
}

/**
 * The auditor complains about a request without an answer after this time, unless the process of
 * its gateway has died. Even the slowest creation in a simulation takes less time.
 */
const answeredWithinMs = 60_000;

export class Requests {
  readonly #auditor: Auditor;
  readonly #enqueued: ReadonlySet<string>;
  readonly #all: Asked[] = [];

  constructor(auditor: Auditor, enqueued: ReadonlySet<string>) {
    this.#auditor = auditor;
    this.#enqueued = enqueued;
  }

  get waiting(): boolean {
    return this.#all.some(({ isAnswered, isWaited }) => !isAnswered && isWaited());
  }

  /** Records a request. Call the returned function with the answer. */
  asked(
    request: Pick<Asked, 'key' | 'what' | 'askedAtMs' | 'isWaited'>,
  ): (replied: Replied) => void {
    const name = `request ${this.#all.length + 1} (${request.what} ${request.key})`;
    const asked: Asked = { ...request, name, isAnswered: false };
    this.#all.push(asked);
    return (replied) => {
      if (asked.isAnswered) this.#auditor.complain(name, 'was answered twice');
      asked.isAnswered = true;
      this.#lookAtAnswer(asked, replied);
    };
  }

  #lookAtAnswer({ name, key, what }: Asked, replied: Replied): void {
    if (replied.kind === 'thrown') {
      if (!replied.isUnavailable)
        this.#auditor.complain(name, `is answered 500: ${String(replied.error)}`);
      return;
    }
    const { answer } = replied;
    const own = [...this.#auditor.rows.values()].filter((row) => row.key === key);
    if (answer.kind === 'json' && what === 'create') {
      const isGiven = own.some(({ node_id }) => node_id !== null);
      if (!isGiven)
        this.#auditor.complain(
          name,
          `is answered ${answer.status}, but no node has the submission`,
        );
    }
    if (answer.kind !== 'problem' || answer.code !== 'dispatch_unavailable') return;
    const askers = this.#all.filter((one) => one.what === 'create' && one.key === key);
    const isEnqueued = own.some(({ id }) => this.#enqueued.has(id));
    if (askers.length === 1 && !isEnqueued)
      this.#auditor.complain(
        name,
        'is answered dispatch_unavailable, but no gateway tried to enqueue its submission',
      );
  }

  look(nowMs: number): void {
    for (const { name, askedAtMs, isAnswered, isWaited } of this.#all) {
      if (isAnswered || !isWaited() || nowMs - askedAtMs <= answeredWithinMs) continue;
      this.#auditor.complain(name, `has no answer after ${nowMs - askedAtMs} ms`);
    }
  }
}
