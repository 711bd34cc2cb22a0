import type { FrameFromNode } from '@svc/contracts';
import { linkRequest, openLinkSocket } from '@svc/testkit';
import type { ModelNode, NodeLinkEnd } from '../model/node.ts';

type Socket = Awaited<ReturnType<typeof openLinkSocket>>;

export class SocketLink implements NodeLinkEnd {
  #socket: Socket | undefined;
  #isGone = false;
  /** Resolves when the socket is closed, or if it never opened. */
  readonly ended: Promise<void>;
  readonly #node: ModelNode;

  readonly dispatcher: number;

  constructor(node: ModelNode, dispatcher: number, to: { link: string; secret: string }) {
    this.#node = node;
    this.dispatcher = dispatcher;
    this.ended = this.#run(to);
  }

  get isOpen(): boolean {
    return this.#socket !== undefined && !this.#isGone;
  }

  fromNode(frame: FrameFromNode): void {
    if (this.isOpen) this.#socket?.send(JSON.stringify(frame));
  }

  cut(): void {
    this.#leaveNode();
    this.#socket?.terminate();
  }

  /** Stops sending and reading, so pings get no answer. The service notices only the silence. */
  cutUnnoticed(): void {
    this.#leaveNode();
    this.#socket?.pause();
  }

  async #run({ link, secret }: { link: string; secret: string }): Promise<void> {
    const { wireId: nodeId } = this.#node;
    try {
      const socket = await openLinkSocket(linkRequest({ link, nodeId, secret }));
      this.#socket = socket;
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.on('error', () => {});
      socket.on('message', (data) => {
        if (!this.#isGone && data instanceof Buffer) this.#node.receive(data.toString('utf8'));
      });
      if (this.#isGone) socket.terminate();
      else this.fromNode(this.#node.hello());
      await closed;
    } catch {
      // The dispatcher is down or refuses the link. The node is not linked and may try again.
    } finally {
      this.#leaveNode();
    }
  }

  #leaveNode(): void {
    this.#isGone = true;
    if (this.#node.link === this) this.#node.unlinked();
  }
}
