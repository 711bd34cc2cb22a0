import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient } from '@svc/client';
import { fromWireId, type Tier } from '@svc/domain';
import type { TenantCredentials, TestStack } from '@svc/testkit';
import { application } from '../../support/journey.ts';
import { Auditor } from '../model/auditor.ts';
import type { Playground } from '../model/command.ts';
import type { Fleet } from '../model/node-steps.ts';
import { ModelNode } from '../model/node.ts';
import type { Agents } from './agents.ts';
import { SocketLink } from './socket-link.ts';

export interface ScriptedCredentials {
  readonly id: string;
  readonly secret: string;
}

/** The auditor counts an offer as open for this long: half of `offerTimeoutMs`. */
const openForMs = 1_000;
/** The pause in `settled`. It gives the processes time to react to a command. */
const awaitedMs = 25;
const slotsOf = [1, 2, 3, 1];

export class ProcessWorld implements Fleet, Playground {
  readonly auditor = new Auditor(openForMs);
  readonly ran: string[] = [];
  readonly nodes: readonly ModelNode[];
  readonly stack: TestStack;
  readonly agents: Agents;
  readonly tenantId: string;
  readonly #client: Client;
  readonly #secrets = new Map<string, string>();
  readonly #links = new Set<SocketLink>();
  readonly #posts: Promise<unknown>[] = [];
  readonly #isUp: boolean[];

  constructor(
    stack: TestStack,
    parts: { tenant: TenantCredentials; nodes: readonly ScriptedCredentials[]; agents: Agents },
  ) {
    this.stack = stack;
    this.agents = parts.agents;
    const { tenantId, hmacSecret: secret } = parts.tenant;
    this.tenantId = fromWireId('tnt', tenantId) ?? '';
    this.#client = createClient({
      baseUrl: stack.gatewayUrl,
      tenantId,
      secret,
      maxRetries: 0,
    });
    this.#isUp = stack.nodeLinkUrls.map(() => true);
    this.nodes = parts.nodes.map(({ id, secret: nodeSecret }, index) => {
      this.#secrets.set(id, nodeSecret);
      const slots = slotsOf[index % slotsOf.length] ?? 1;
      return new ModelNode(id, slots, this.auditor, () => performance.now());
    });
  }

  /**
   * The wire ids of the submissions that the auditor knows. During a run, these are only the ones
   * seen on the links of `nodes`; `passVerdict` adds the others.
   */
  get submissions(): string[] {
    return [...this.auditor.sightings.keys()];
  }

  get alive(): { readonly index: number; connect(node: ModelNode): void }[] {
    return this.#isUp.flatMap((isUp, index) =>
      isUp ? [{ index, connect: (node: ModelNode) => this.#connect(node, index) }] : [],
    );
  }

  #connect(node: ModelNode, dispatcher: number): void {
    if (node.link !== undefined) node.unlinked();
    const url = this.stack.nodeLinkUrls[dispatcher] ?? '';
    const secret = this.#secrets.get(node.id) ?? '';
    const link = new SocketLink(node, dispatcher, { link: url, secret });
    node.link = link;
    this.#links.add(link);
    void link.ended.then(() => this.#links.delete(link));
  }

  /**
   * Waits for `awaitedMs`. Processes do not report that they are done, so some may still work
   * afterwards.
   */
  async settled(): Promise<void> {
    await delay(awaitedMs);
  }

  post(tier: Tier, atsType: string): void {
    const posted = this.#client.submit(application(`key ${this.#posts.length}`, atsType, tier));
    this.#posts.push(posted.catch(() => {}));
  }

  async cancel(submissionId: string): Promise<void> {
    this.#posts.push(this.#client.cancel(submissionId).catch(() => {}));
  }

  async answered(): Promise<void> {
    await Promise.all(this.#posts);
  }

  async killDispatcher(index: number): Promise<void> {
    this.#isUp[index] = false;
    // The links are cut before the kill, so their last frames may be lost, as in a real crash.
    for (const link of this.#links) if (link.dispatcher === index) link.cut();
    await this.stack.kill('dispatcher', index);
  }

  async startDispatchers(): Promise<void> {
    for (const [index, isUp] of this.#isUp.entries()) {
      if (isUp) continue;
      await this.stack.restart('dispatcher', index);
      this.#isUp[index] = true;
    }
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.cut();
    await Promise.all([...this.#links].map(({ ended }) => ended));
    await this.startDispatchers();
  }
}
