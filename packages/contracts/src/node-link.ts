import {
  confirmationIdLengthMax,
  confirmationUrlLengthMax,
  failureMessageLengthMax,
  jobTypeLengthMax,
  nodeFailureCodes,
  tiers,
} from '@svc/domain';
import { Type, type Static } from 'typebox';

/**
 * The frames of the node link (CONTRACT 7). Unknown members are ignored, so services and nodes of
 * different versions work together.
 */

export const nodeLinkPath = '/node/v1';
export const nodeLinkSubprotocol = 'svc.node.v1';

/** Codes with which a dispatcher closes a link (CONTRACT 7). Another one is 1011. */
export const nodeLinkCloseCodes = {
  /** The node must connect again. */
  drain: 1012,
  violation: 1008,
  oversized: 1009,
  newerLink: 4001,
} as const;

export const jobTypesPerNodeMax = 64;
/**
 * The largest `slots` that a `hello` may have. If `slots` is above the node's `slotsMax`, the
 * service uses `slotsMax`.
 */
export const slotsPerNodeMax = 1_000;
/**
 * The most entries of `running` that the schema of `hello` accepts. The dispatcher also checks
 * `runningMax`, which is smaller and depends on the node's `slotsMax`.
 */
export const runningPerNodeMax = 4_000;
/** The longest receipt, in characters of base64. */
export const receiptLengthMax = 4_096;
const amountMax = 1e12;

/** Checks only the length, so a malformed id is handled as an unknown one. */
const Id = Type.String({ minLength: 1, maxLength: 64 });
const JobType = Type.String({ minLength: 1, maxLength: jobTypeLengthMax });
const RequestId = Type.String({ minLength: 1, maxLength: 128 });
const Amount = Type.Optional(Type.Number({ minimum: 0, maximum: amountMax }));

/**
 * The usage of a submission since `begin`, cumulative. A unit that is not reported costs nothing
 * (CONTRACT 4).
 */
export const ReportedUsage = Type.Object({
  nodeSeconds: Amount,
  cpuSeconds: Amount,
  memoryGbSeconds: Amount,
  bandwidthMb: Amount,
  actions: Amount,
});
export type ReportedUsage = Static<typeof ReportedUsage>;

/** The result of `ats.application`, the only job type. At most `resultBytesMax` bytes as JSON. */
export const JobResult = Type.Object({
  confirmationId: Type.Optional(Type.String()),
  confirmationUrl: Type.Optional(Type.String()),
  details: Type.Optional(Type.Object({})),
});
export type JobResult = Static<typeof JobResult>;

/** The name of the `confirmationUrl` format: an absolute `http` or `https` URL. */
export const httpUrlFormat = 'absolute-http-url';

/**
 * The result as a node may report it (CONTRACT 7). Its checks are stricter than those of
 * `JobResult`.
 */
const ReportedResult = Type.Object({
  confirmationId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: confirmationIdLengthMax,
      pattern: '^[^\\p{C}\\p{Zl}\\p{Zp}]*$',
    }),
  ),
  confirmationUrl: Type.Optional(
    Type.String({ maxLength: confirmationUrlLengthMax, format: httpUrlFormat }),
  ),
  details: Type.Optional(Type.Object({})),
});

export const declineReasons = ['busy', 'unsupported', 'draining', 'policy'] as const;
export type DeclineReason = (typeof declineReasons)[number];

/**
 * The name or the version of an executor (CONTRACT 7). An executor runs the jobs of one type on a
 * node.
 */
const ExecutorName = Type.String({ pattern: '^[ -~]{1,64}$' });
export const ReportedExecutor = Type.Object({
  jobType: JobType,
  name: ExecutorName,
  version: ExecutorName,
});
/**
 * The name of the executor that only pretends to work. In production, the dispatcher closes the
 * link after a `hello` that names it.
 */
export const simulatedExecutorName = 'simulated';

const hello = Type.Object({
  type: Type.Literal('hello'),
  agentVersion: Type.String({ pattern: '^[ -~]{1,64}$' }),
  /** The id of the instance, new at each start of the agent. Agents of an older version omit it. */
  instanceId: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
  jobTypes: Type.Array(JobType, { maxItems: jobTypesPerNodeMax }),
  /** Agents of an older version omit it. */
  executors: Type.Optional(Type.Array(ReportedExecutor, { maxItems: jobTypesPerNodeMax })),
  /**
   * True if the node has options that only a sandbox allows. In production, the dispatcher then
   * closes the link.
   */
  sandboxOnly: Type.Optional(Type.Boolean()),
  slots: Type.Integer({ minimum: 0, maximum: slotsPerNodeMax }),
  running: Type.Array(Id, { maxItems: runningPerNodeMax }),
});
const accept = Type.Object({ type: Type.Literal('accept'), offerId: Id });
const decline = Type.Object({
  type: Type.Literal('decline'),
  offerId: Id,
  reason: Type.Enum(declineReasons),
});
const start = Type.Object({ type: Type.Literal('start'), submissionId: Id });
const usage = Type.Object({
  type: Type.Literal('usage'),
  submissionId: Id,
  usage: ReportedUsage,
});
const completed = Type.Object({
  type: Type.Literal('completed'),
  submissionId: Id,
  usage: ReportedUsage,
  result: ReportedResult,
});
const failed = Type.Object({
  type: Type.Literal('failed'),
  submissionId: Id,
  usage: ReportedUsage,
  failure: Type.Object({
    code: Type.Enum(nodeFailureCodes),
    message: Type.String({ maxLength: failureMessageLengthMax }),
    /**
     * False only if the node knows that it submitted nothing. Only `false` with the code
     * `node_error` has an effect.
     */
    submitted: Type.Optional(Type.Boolean()),
    /**
     * False if the same job would fail again for the same reason. Only `false` with the code
     * `site_unreachable` has an effect.
     */
    retriable: Type.Optional(Type.Boolean()),
  }),
});
const stopped = Type.Object({
  type: Type.Literal('stopped'),
  submissionId: Id,
  usage: ReportedUsage,
});
/** Either side may send this frame. After it, no more offers are made on this link. */
const drain = Type.Object({ type: Type.Literal('drain') });
/**
 * The node sends this frame for each submission of its history, after a `welcome` with `recovery`
 * (CONTRACT 7).
 */
const report = Type.Object({
  type: Type.Literal('report'),
  submissionId: Id,
  receipt: Type.String({ maxLength: receiptLengthMax }),
  /** False if the node knows that it has not begun the submission. */
  begun: Type.Boolean(),
});
/**
 * The node sends this frame after the service has recorded its whole history, and has acknowledged
 * the outcomes that the node sent from that history.
 */
const reported = Type.Object({ type: Type.Literal('reported') });

export const framesFromNode = {
  hello,
  accept,
  decline,
  start,
  usage,
  completed,
  failed,
  stopped,
  drain,
  report,
  reported,
};

const welcome = Type.Object({
  type: Type.Literal('welcome'),
  nodeId: Id,
  heartbeatSeconds: Type.Integer({ minimum: 1 }),
  stop: Type.Array(Id),
  /**
   * The public address from which the link comes. Null if it is unknown or not public. Services of an
   * older version omit it.
   */
  observedAddress: Type.Optional(Type.Union([Type.String({ maxLength: 45 }), Type.Null()])),
  /** Present while the service recovers from a backup. The node then reports its history. */
  recovery: Type.Optional(Type.Object({ incarnation: Type.Integer() })),
});
const offer = Type.Object({
  type: Type.Literal('offer'),
  offerId: Id,
  submissionId: Id,
  jobType: JobType,
  tier: Type.Enum(tiers),
  targetHost: Type.String({ minLength: 1, maxLength: 2048 }),
  maxNodeSeconds: Type.Integer({ minimum: 1 }),
  expiresInMs: Type.Integer({ minimum: 1 }),
  requestId: RequestId,
  /** For simulated nodes: the `atsType` of the payload (`OfferFacts`). */
  sandboxBehaviour: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
});
const assign = Type.Object({
  type: Type.Literal('assign'),
  offerId: Id,
  submissionId: Id,
  /**
   * A text that means nothing to the node. The node returns the text in `report`. Services of an
   * older version omit the receipt.
   */
  receipt: Type.Optional(Type.String({ maxLength: receiptLengthMax })),
  payload: Type.Object({}),
});
/**
 * The answer to `report`. `present`: the service has recorded the submission. Otherwise the node
 * reports it again later, and if `refused` is true, it does not wait for it.
 */
const recorded = Type.Object({
  type: Type.Literal('recorded'),
  submissionId: Id,
  present: Type.Boolean(),
  refused: Type.Optional(Type.Boolean()),
});
const revoke = Type.Object({ type: Type.Literal('revoke'), offerId: Id });
const begin = Type.Object({ type: Type.Literal('begin'), submissionId: Id });
const ack = Type.Object({ type: Type.Literal('ack'), submissionId: Id });
const cancel = Type.Object({ type: Type.Literal('cancel'), submissionId: Id });
const error = Type.Object({
  type: Type.Literal('error'),
  code: Type.String({ minLength: 1, maxLength: 64 }),
  message: Type.String({ maxLength: 512 }),
});

export const framesToNode = {
  welcome,
  offer,
  assign,
  revoke,
  begin,
  ack,
  cancel,
  drain,
  recorded,
  error,
};

export type FrameFromNodeType = keyof typeof framesFromNode;
export type FrameToNodeType = keyof typeof framesToNode;
export type FrameFromNodeOf<T extends FrameFromNodeType> = Static<(typeof framesFromNode)[T]>;
export type FrameToNodeOf<T extends FrameToNodeType> = Static<(typeof framesToNode)[T]>;
export type FrameFromNode = { [T in FrameFromNodeType]: FrameFromNodeOf<T> }[FrameFromNodeType];
export type FrameToNode = { [T in FrameToNodeType]: FrameToNodeOf<T> }[FrameToNodeType];

/**
 * The frames that the service builds as objects. `assignFrameText` builds `assign` as JSON text.
 */
export type SentFrame = Exclude<FrameToNode, FrameToNodeOf<'assign'>>;
