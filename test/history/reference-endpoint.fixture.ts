import type { Random } from '../simulation/random.ts';

interface Owed {
  readonly submissionId: string;
  readonly type: string;
}

/** A tenant's webhook URL, and the events that have not arrived there yet. */
export class ReferenceEndpoint {
  #url: string | null = null;
  #owed: Owed[] = [];

  /** Sets the URL. Clearing the URL drops the events that have not arrived. */
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

  /**
   * Makes one attempt at the current URL. Undefined without a URL or an event. The event of three
   * attempts in ten stays, as after a refusal, and is attempted again later.
   */
  attempt(random: Random): (Owed & { readonly url: string }) | undefined {
    const next = random.pick(this.#owed);
    if (next === undefined || this.#url === null) return undefined;
    if (!random.chance(0.3)) this.#owed = this.#owed.filter((one) => one !== next);
    return { ...next, url: this.#url };
  }
}
