import { fieldsOf, textOf } from './paused-request.ts';

/** The most requests that are known to be in flight. After that, the oldest are forgotten. */
const openMax = 1_000;

/**
 * Knows which HTTP requests of a page are in flight, from the `Network.*` events of the DevTools
 * protocol.
 */
export class InFlight {
  readonly #open = new Set<string>();
  readonly #paused = new Set<string>();
  readonly #ends = new Map<string, PromiseWithResolvers<boolean>>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  note(method: string, params: unknown): void {
    const fields = fieldsOf(params);
    const requestId = textOf(fields['requestId']);
    if (requestId === undefined) return;
    if (method === 'Network.requestWillBeSent') {
      const url = textOf(fieldsOf(fields['request'])['url']) ?? '';
      if (url.startsWith('http')) this.#add(requestId);
    } else if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed') {
      this.#open.delete(requestId);
      this.#paused.delete(requestId);
      this.#ends.get(requestId)?.resolve(method === 'Network.loadingFinished');
    } else return;
    this.#onChange();
  }

  #add(requestId: string): void {
    this.#open.add(requestId);
    if (this.#open.size <= openMax) return;
    for (const oldest of this.#open) {
      this.#open.delete(oldest);
      return;
    }
  }

  /**
   * Notes that the fence holds a request back before it leaves the browser. `isEmpty` does not
   * count the request until `resume` is called for it.
   */
  pause(networkId: string | undefined): void {
    if (networkId !== undefined) this.#paused.add(networkId);
  }

  resume(networkId: string | undefined): void {
    if (networkId !== undefined) this.#paused.delete(networkId);
  }

  /**
   * Resolves with true if the page got the whole answer, and with false if it was cut. Stays
   * pending if the page reports no end of the request after this call.
   */
  isWhole(networkId: string): Promise<boolean> {
    const end = this.#ends.get(networkId) ?? Promise.withResolvers<boolean>();
    this.#ends.set(networkId, end);
    return end.promise;
  }

  isEmpty(): boolean {
    return [...this.#open].every((requestId) => this.#paused.has(requestId));
  }
}
