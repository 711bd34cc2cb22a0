import {
  frameFromNodeBytesMax,
  frameFromNodeDepthMax,
  frameToNodeBytesMax,
  jsonDepthMax,
  parseBoundedJson,
  resultBytesMax,
} from '@svc/domain';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import {
  framesFromNode,
  framesToNode,
  httpUrlFormat,
  type FrameFromNode,
  type FrameToNode,
} from './node-link.ts';

/**
 * The service answers a bad frame of a node with an `error` frame, which has this `code`
 * (CONTRACT 7). A node does not answer bad frames of the service.
 */
export type BadFrameCode =
  | 'malformed_frame'
  | 'unknown_type'
  | 'invalid_frame'
  | 'unexpected_frame'
  | 'unhandled_frame'
  | 'rate_limited';

export interface BadFrame {
  readonly kind: 'bad';
  readonly code: BadFrameCode;
  /** Never quotes the frame, because a frame may contain personal data. */
  readonly message: string;
}

export type ParsedFrame<F> = { readonly kind: 'frame'; readonly frame: F } | BadFrame;

// Ajv does not check the schemas against the meta-schema, because loading the meta-schema costs 70
// ms of CPU.
const ajv = new Ajv2020({ meta: false, validateSchema: false, strict: true });
ajv.addFormat(httpUrlFormat, isAbsoluteHttpUrl);

/**
 * True for an absolute `http` or `https` URL. The pattern refuses some texts that `URL.canParse`
 * accepts: for example `https:host`, or a URL with a space in its path.
 */
function isAbsoluteHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\p{C}\p{Z}]+$/iu.test(text) && URL.canParse(text);
}

type FrameChecks<F> = ReadonlyMap<string, ValidateFunction<F>>;

/**
 * Makes a function that returns the checks. It compiles the checks only at its first call, because
 * most processes that import this file read no frame.
 */
function checksOf<F>(schemas: Readonly<Record<string, object>>): () => FrameChecks<F> {
  let checks: FrameChecks<F> | undefined;
  return () => {
    checks ??= new Map(
      Object.entries(schemas).map(([type, schema]) => [type, ajv.compile<F>(schema)]),
    );
    return checks;
  };
}

const checksFromNode = checksOf<FrameFromNode>(framesFromNode);
const checksToNode = checksOf<FrameToNode>(framesToNode);

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(code: BadFrameCode, message: string): BadFrame {
  return { kind: 'bad', code, message };
}

type JsonRefusal = Extract<ReturnType<typeof parseBoundedJson>, { kind: 'refused' }>['reason'];

const refusals: Readonly<Record<JsonRefusal, string>> = {
  too_large: 'the frame is too large',
  too_deep: 'the frame is nested too deeply',
  nul: 'a string of the frame contains U+0000',
  lone_surrogate: 'a string of the frame contains half of a surrogate pair',
  malformed: 'the frame is not valid JSON',
};

function parse<F>(
  checks: FrameChecks<F>,
  text: string,
  bounds: Parameters<typeof parseBoundedJson>[1],
): ParsedFrame<F> {
  const parsed = parseBoundedJson(text, bounds);
  if (parsed.kind === 'refused') return bad('malformed_frame', refusals[parsed.reason]);
  const { value } = parsed;
  if (!isObject(value)) return bad('malformed_frame', 'the frame is not a JSON object');
  if (typeof value['type'] !== 'string') return bad('malformed_frame', '`type` must be a text');
  const check = checks.get(value['type']);
  if (check === undefined) return bad('unknown_type', 'the type of the frame is unknown');
  if (check(value)) return { kind: 'frame', frame: value };
  const [first] = check.errors ?? [];
  return bad('invalid_frame', `${first?.instancePath ?? ''} ${first?.message ?? ''}`.trim());
}

const boundsFromNode = { charactersMax: frameFromNodeBytesMax, depthMax: frameFromNodeDepthMax };
/**
 * The bounds of a frame to a node. It may nest as deep as the body of a request, because the frame
 * `assign` contains the payload.
 */
const boundsToNode = { charactersMax: frameToNodeBytesMax, depthMax: jsonDepthMax };

/**
 * Parses a frame from a node and checks it against its schema (CONTRACT 7). Also refuses a result
 * above `resultBytesMax`. Never throws.
 */
export function parseFrameFromNode(text: string): ParsedFrame<FrameFromNode> {
  const parsed = parse(checksFromNode(), text, boundsFromNode);
  if (parsed.kind === 'frame' && parsed.frame.type === 'completed') {
    const bytes = new TextEncoder().encode(JSON.stringify(parsed.frame.result)).byteLength;
    if (bytes > resultBytesMax) {
      return bad('invalid_frame', `/result must not be larger than ${resultBytesMax} bytes`);
    }
  }
  return parsed;
}

/** Parses a frame from the service and checks it against its schema (CONTRACT 7). Never throws. */
export function parseFrameToNode(text: string): ParsedFrame<FrameToNode> {
  return parse(checksToNode(), text, boundsToNode);
}

/**
 * Builds the `assign` frame around the payload's text as the tenant sent it (decision 7). The
 * payload is the last member, because `assignPayloadText` expects it there.
 */
export function assignFrameText({
  offerId,
  submissionId,
  receipt,
  payloadText,
}: {
  readonly offerId: string;
  readonly submissionId: string;
  readonly receipt?: string;
  readonly payloadText: string;
}): string {
  const head = JSON.stringify({ type: 'assign', offerId, submissionId, receipt });
  return `${head.slice(0, -1)},"payload":${payloadText}}`;
}

const assignHead =
  /^\{"type":"assign","offerId":"[^"\\]*","submissionId":"[^"\\]*",(?:"receipt":"[^"\\]*",)?"payload":/;

/**
 * Returns the text of the payload of a checked `assign` frame. The text is unchanged if the frame
 * begins and ends as `assignFrameText` writes it.
 */
export function assignPayloadText(frameText: string): string {
  const head = assignHead.exec(frameText);
  const rest = head === null ? '' : frameText.slice(head[0].length, -1);
  // If a newer service sends more members after the payload, `rest` is not one JSON value.
  if (parseBoundedJson(rest, boundsToNode).kind === 'value') return rest;
  const frame: { payload: unknown } = JSON.parse(frameText);
  return JSON.stringify(frame.payload);
}
