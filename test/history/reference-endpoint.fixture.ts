import type { Random } from '../simulation/random.ts';

interface Owed {
  readonly submissionId: string;
  readonly type: string;
}

export class ReferenceEndpoint {
  #url: string | null = null;
  #owed: Owed[] = [];

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
   * Returns a random owed event, or undefined if no event is owed or there is no URL. In 30 % of
   * the calls, the event stays owed, as if the endpoint had refused it.
   */
  attempt(random: Random): (Owed & { readonly url: string }) | undefined {
    const next = random.pick(this.#owed);
    if (next === undefined || this.#url === null) return undefined;
    if (!random.chance(0.3)) this.#owed = this.#owed.filter((one) => one !== next);
    return { ...next, url: this.#url };
  }
}
