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

/** Why a frame is a bad one: the `code` of the `error` frame that answers it. */
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
  /** Never quotes what was sent: it may be personal data. */
  readonly message: string;
}

export type ParsedFrame<F> = { readonly kind: 'frame'; readonly frame: F } | BadFrame;

// Ajv does not check TypeBox's schemas against the meta-schema: compiling that costs 50 ms of CPU.
const ajv = new Ajv2020({ validateSchema: false, strict: true });
ajv.addFormat(httpUrlFormat, isAbsoluteHttpUrl);

/** Stricter than the URL parser, which drops white space and reads `https:host` as a URL. */
function isAbsoluteHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\p{C}\p{Z}]+$/iu.test(text) && URL.canParse(text);
}

type FrameChecks<F> = ReadonlyMap<string, ValidateFunction<F>>;

/** Compiles the checks at the first frame: most processes that import this file read none. */
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
  too_large: 'a frame is too large',
  too_deep: 'a frame nests too deep',
  nul: 'no string of a frame holds U+0000',
  lone_surrogate: 'no string of a frame holds half of a surrogate pair',
  malformed: 'a frame is one JSON text',
};

function parse<F>(
  checks: FrameChecks<F>,
  text: string,
  bounds: Parameters<typeof parseBoundedJson>[1],
): ParsedFrame<F> {
  const parsed = parseBoundedJson(text, bounds);
  if (parsed.kind === 'refused') return bad('malformed_frame', refusals[parsed.reason]);
  const { value } = parsed;
  if (!isObject(value)) return bad('malformed_frame', 'a frame is a JSON object');
  if (typeof value['type'] !== 'string') return bad('malformed_frame', 'a frame has a type');
  const check = checks.get(value['type']);
  if (check === undefined) return bad('unknown_type', 'there is no frame of this type');
  if (check(value)) return { kind: 'frame', frame: value };
  const [first] = check.errors ?? [];
  return bad('invalid_frame', `${first?.instancePath ?? ''} ${first?.message ?? ''}`.trim());
}

const boundsFromNode = { charactersMax: frameFromNodeBytesMax, depthMax: frameFromNodeDepthMax };
/** A payload is as deep as a request's body may be, and stands below the frame itself. */
const boundsToNode = { charactersMax: frameToNodeBytesMax, depthMax: jsonDepthMax };

/** Reads a frame that a node sent, checked against its schema (CONTRACT 7). Never throws. */
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

/** Reads a frame that the service sent, checked against its schema (CONTRACT 7). Never throws. */
export function parseFrameToNode(text: string): ParsedFrame<FrameToNode> {
  return parse(checksToNode(), text, boundsToNode);
}

/**
 * The `assign` frame, with the payload as the JSON text that the tenant sent spliced in: parsed
 * and written again, numbers beyond 2^53 and the order of members would not reach the node
 * untouched (CONTRACT 3). The payload is the last member; `assignPayloadText` relies on it.
 */
export function assignFrameText({
  offerId,
  submissionId,
  payloadText,
}: {
  readonly offerId: string;
  readonly submissionId: string;
  readonly payloadText: string;
}): string {
  return `{"type":"assign","offerId":${JSON.stringify(offerId)},"submissionId":${JSON.stringify(submissionId)},"payload":${payloadText}}`;
}

const assignHead = /^\{"type":"assign","offerId":"[^"\\]*","submissionId":"[^"\\]*","payload":/;

/**
 * The payload of a checked `assign` frame as the text that was sent. Of a frame that was not
 * written by `assignFrameText` it is the parsed payload written again.
 */
export function assignPayloadText(frameText: string): string {
  const head = assignHead.exec(frameText);
  if (head !== null && frameText.endsWith('}')) return frameText.slice(head[0].length, -1);
  const frame: { payload: unknown } = JSON.parse(frameText);
  return JSON.stringify(frame.payload);
}
