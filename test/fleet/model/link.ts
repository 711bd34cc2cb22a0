import type { FrameFromNode } from '@svc/contracts';
import { linkSilentMs } from '@svc/domain';
import type { LinkTransport } from '../../../services/dispatcher/src/links/links.ts';
import type { Timers } from '../../../services/dispatcher/src/timers.ts';
import type { OpenLink } from '../../../services/dispatcher/src/wire/node-link.ts';
import type { ModelNode, NodeLinkEnd } from './node.ts';

/**
 * A node link without a socket. Frames arrive in order. `cut` and `cutUnnoticed` lose the frames in
 * flight.
 */
export class ModelLink implements LinkTransport, NodeLinkEnd {
  #state: 'open' | 'swallowing' | 'closed' = 'open';
  #service: OpenLink | undefined;
  closeCode: number | undefined;
  readonly #node: ModelNode;
  readonly #timers: Timers;

  constructor(node: ModelNode, timers: Timers) {
    this.#node = node;
    this.#timers = timers;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  attach(service: OpenLink): void {
    this.#service = service;
  }

  send(text: string): void {
    queueMicrotask(() => {
      if (this.#state === 'open') this.#node.receive(text);
    });
  }

  close(code: number): void {
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    this.closeCode = code;
    if (wasOpen) this.#leaveNode();
  }

  pause(): void {}

  resume(): void {}

  fromNode(frame: FrameFromNode): void {
    if (this.#state === 'open') this.#service?.receive(JSON.stringify(frame));
  }

  /** Closes the link and notifies the node and the service, except a side that has already left. */
  cut(): void {
    const wasOpen = this.#state === 'open';
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    if (wasOpen) this.#leaveNode();
    this.#service?.closed();
  }

  /** Closes the link at the node. The service notices the end only after `linkSilentMs`. */
  cutUnnoticed(): void {
    if (this.#state !== 'open') return;
    this.#state = 'swallowing';
    this.#leaveNode();
    this.#timers.after(linkSilentMs, () => this.cut());
  }

  /**
   * Ends the link after the death of its dispatcher. The node first gets the frames that the
   * dispatcher sent before it died.
   */
  serviceDied(): void {
    this.#service = undefined;
    queueMicrotask(() => this.cut());
  }

  #leaveNode(): void {
    if (this.#node.link === this) this.#node.unlinked();
  }
}
