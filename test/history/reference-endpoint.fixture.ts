import type { Random } from '../simulation/random.ts';

interface Owed {
  readonly submissionId: string;
  readonly type: string;
}

/** A tenant's webhook URL, and the events that are still to arrive there. */
export class ReferenceEndpoint {
  #url: string | null = null;
  #owed: Owed[] = [];

  /** Clearing the URL drops what is pending. */
  move(url: string | null): void {
    this.#url = url;
    if (url === null) this.#owed = [];
  }

  owe(event: Owed): void {
    if (this.#url !== null) this.#owed.push(event);
  }

  isOwed(): boolean {
    return this.#owed.length > 0;
  }

  /** One attempt, at the URL in force. One in three is not taken, and comes again. */
  attempt(random: Random): (Owed & { readonly url: string }) | undefined {
    const next = random.pick(this.#owed);
    if (next === undefined || this.#url === null) return undefined;
    if (!random.chance(0.3)) this.#owed = this.#owed.filter((one) => one !== next);
    return { ...next, url: this.#url };
  }
}
