import type { IncomingMessage } from 'node:http';
import { nodeLinkPath, nodeLinkSubprotocol } from '@svc/contracts';
import { errorCatalogue, fromWireId, identityLengthMax, type ErrorCode } from '@svc/domain';
import { addressGroup, type Clock, type FailureLimit, type TrustedProxies } from '@svc/runtime';
import { describeRefusal, sha256Hex, type Verification, verifyRequest } from '@svc/signing';
import { acceptLinkSignature, findNodeCredentials, takeLinkEpoch, type Store } from '@svc/store';

export type UpgradeDecision = ({ readonly kind: 'accepted' } & AcceptedNode) | UpgradeRefusal;

interface AuthenticatedNode {
  readonly nodeId: string;
  readonly draining: boolean;
  /** The version of the secret that signed the upgrade. */
  readonly secretVersion: number;
  /** The end of that secret's validity, by the database's clock. Null for the current secret. */
  readonly secretExpiresAt: Date | null;
  readonly slotsMax: number;
}

export interface AcceptedNode extends AuthenticatedNode {
  /**
   * The number of this link in Postgres. The link with the highest number is the current link of
   * its node.
   */
  readonly linkEpoch: number;
  /** The address of the node, or of its proxy if that has not forwarded an address. */
  readonly clientAddress: string | undefined;
}

export interface UpgradeRefusal {
  readonly kind: 'refused';
  readonly code: Extract<
    ErrorCode,
    | 'bad_request'
    | 'request_timeout'
    | 'headers_too_large'
    | 'payload_too_large'
    | 'unauthenticated'
    | 'not_found'
    | 'method_not_allowed'
    | 'rate_limited'
    | 'misdirected_request'
    | 'unavailable'
  >;
  readonly detail: string;
  /** Used for `rate_limited` and `unavailable`. Default: `retryAfterSecondsDefault`. */
  readonly retryAfterSeconds?: number;
}

export interface UpgradeContext {
  readonly store: Store;
  readonly clock: Clock;
  /**
   * Counts the refusals of `checkUpgrade` by address, and separately for nodes that signed
   * correctly before. After too many, `decideUpgrade` does not query Postgres.
   */
  readonly failures: FailureLimit;
  readonly proxies: TrustedProxies;
  /**
   * True if requests without TLS are refused. This is so in production behind a proxy
   * (`TRUST_PROXY`).
   */
  readonly isTlsOnly: boolean;
}

const bodySha256 = sha256Hex('');

function refused(code: UpgradeRefusal['code'], detail: string): UpgradeRefusal {
  return { kind: 'refused', code, detail };
}

function subprotocolsOf(request: IncomingMessage): string[] {
  return (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

/**
 * The value of a header. Undefined if the request does not have it. The values of a repeated header
 * are joined with commas, as HTTP defines it.
 */
function headerOf(request: IncomingMessage, name: string): string | undefined {
  return request.headersDistinct[name]?.join(', ');
}

const identityHeaders = ['x-svc-tenant', 'x-svc-operator', 'x-svc-node'];

/** Checks the path and the method. This check needs no authentication (CONTRACT 2). */
function checkRoute(request: IncomingMessage): UpgradeRefusal | undefined {
  const [path] = (request.url ?? '').split('?');
  if (path !== nodeLinkPath) {
    return refused('not_found', 'This route does not exist. Check the path.');
  }
  if (request.method !== 'GET') {
    return refused('method_not_allowed', 'The node link does not accept this method. Use GET.');
  }
  return undefined;
}

interface SignedUpgrade extends AuthenticatedNode {
  readonly kind: 'signed';
  readonly signatureHash: Uint8Array;
}

async function authenticate(
  request: IncomingMessage,
  { store, clock }: UpgradeContext,
): Promise<SignedUpgrade | UpgradeRefusal> {
  const identities = identityHeaders.flatMap((name) => request.headersDistinct[name] ?? []);
  if (identities.length > 1) {
    return refused(
      'unauthenticated',
      'The request has more than one identity header. Send only X-SVC-Node, once.',
    );
  }
  const wireId = headerOf(request, 'x-svc-node');
  if (wireId === undefined)
    return refused(
      'unauthenticated',
      'X-SVC-Node is missing. Send the id of the node in this header.',
    );
  const nodeId = fromWireId('nod', wireId);
  const node = nodeId === undefined ? null : await findNodeCredentials(store, nodeId);
  const secrets = node === null || node.disabled ? [] : node.secrets;
  const verify = (tried: typeof secrets): Verification =>
    verifyRequest({
      secrets: tried.map(({ secret }) => secret),
      timestamp: headerOf(request, 'x-svc-timestamp'),
      signature: headerOf(request, 'x-svc-signature'),
      nowSeconds: Math.floor(clock.nowMs() / 1000),
      method: 'GET',
      target: request.url ?? '',
      bodySha256,
    });
  const verification = verify(secrets);
  if (verification.kind === 'verified' && node !== null) {
    const signed = secrets.find((secret) => verify([secret]).kind === 'verified');
    const secretVersion = signed?.version ?? 0;
    const timestamp = headerOf(request, 'x-svc-timestamp');
    const identity = [node.nodeId, secretVersion, timestamp, request.url].join('\n');
    const signatureHash = Buffer.from(sha256Hex(identity), 'hex');
    return {
      kind: 'signed',
      nodeId: node.nodeId,
      draining: node.draining,
      slotsMax: node.slotsMax,
      secretVersion,
      secretExpiresAt: signed?.expiresAt ?? null,
      signatureHash,
    };
  }
  return refused('unauthenticated', describeRefusal(verification));
}

/**
 * Decides whether a request may become a node link (CONTRACT 7). An accepted link becomes its
 * node's current one. Throws if Postgres is needed and unreachable.
 */
export async function decideUpgrade(
  request: IncomingMessage,
  context: UpgradeContext,
): Promise<UpgradeDecision> {
  const { failures, proxies, isTlsOnly } = context;
  if (isTlsOnly && !proxies.cameOverTls(request)) {
    return refused('misdirected_request', errorCatalogue.misdirected_request.description);
  }
  const wrongRoute = checkRoute(request);
  if (wrongRoute !== undefined) return wrongRoute;
  const identity = headerOf(request, 'x-svc-node') ?? '';
  const address = addressGroup(proxies.clientAddress(request));
  const sender = { address, identity: identity.slice(0, identityLengthMax) };
  // The upgrade counts as refused while it is checked. Otherwise all upgrades that arrive during a
  // check would reach Postgres.
  const attempt = failures.attempt(sender);
  if (attempt.kind === 'limited') {
    const detail =
      'Too many upgrades from this address were refused. Connect again after the seconds in `Retry-After`.';
    const retryAfterSeconds = Math.max(Math.ceil(attempt.waitMs / 1000), 1);
    return { kind: 'refused', code: 'rate_limited', detail, retryAfterSeconds };
  }
  try {
    const decision = await checkUpgrade(request, context);
    if (decision.kind === 'accepted') attempt.succeeded();
    return decision;
  } catch (error) {
    attempt.undecided();
    throw error;
  }
}

/**
 * True if the headers `Connection` and `Upgrade` both ask for a WebSocket. A proxy that does not
 * know WebSockets removes at least one of them.
 */
function asksForWebSocket({ headers }: IncomingMessage): boolean {
  const connection = (headers.connection ?? '').toLowerCase().split(',');
  const isUpgrade = connection.some((option) => option.trim() === 'upgrade');
  return isUpgrade && headers.upgrade?.toLowerCase() === 'websocket';
}

async function checkUpgrade(
  request: IncomingMessage,
  context: UpgradeContext,
): Promise<UpgradeDecision> {
  const decision = await authenticate(request, context);
  if (decision.kind === 'refused') return decision;
  if (!asksForWebSocket(request)) {
    return refused(
      'bad_request',
      'The node link is a WebSocket. Send `Upgrade: websocket` and `Connection: Upgrade`. A proxy must forward both headers.',
    );
  }
  if (!subprotocolsOf(request).includes(nodeLinkSubprotocol)) {
    return refused(
      'bad_request',
      `The request does not offer the subprotocol ${nodeLinkSubprotocol}. Send it in the header Sec-WebSocket-Protocol.`,
    );
  }
  const { kind: _, signatureHash, ...node } = decision;
  if (!(await acceptLinkSignature(context.store, signatureHash))) {
    return refused('unauthenticated', 'This signature was used before. Sign a later timestamp.');
  }
  const linkEpoch = await takeLinkEpoch(context.store, node);
  if (linkEpoch === null) {
    return refused('unauthenticated', describeRefusal({ kind: 'wrong_signature' }));
  }
  const clientAddress = context.proxies.clientAddress(request);
  return { kind: 'accepted', ...node, linkEpoch, clientAddress };
}
