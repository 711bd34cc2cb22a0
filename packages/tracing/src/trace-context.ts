/** The context of a span (W3C Trace Context). Both ids are lowercase hex. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The value of `tracestate` as sent. Undefined if it is missing or malformed. */
  readonly tracestate?: string;
}

/** The trace headers of a request. Node.js joins the values of a repeated header with commas. */
export interface OfferedHeaders {
  readonly traceparent?: string | string[] | undefined;
  readonly tracestate?: string | string[] | undefined;
}

/**
 * A `traceparent` of version 00 has exactly 55 characters. A later version may append members after
 * another dash.
 */
const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const traceparentLengthMax = 256;
const tracestateLengthMax = 512;
const tracestateMembersMax = 32;
/** One member of `tracestate`. The value is printable ASCII without commas and equals signs. */
const memberPattern = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/;

/**
 * Undefined if `traceparent` is missing or malformed. A malformed `tracestate` is left out. The
 * caller's sampling flag has no effect (decision 42).
 */
export function readTraceContext(headers: OfferedHeaders): TraceContext | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== 'string' || traceparent.length > traceparentLengthMax)
    return undefined;
  const [, version, traceId = '', spanId = '', rest] = traceparentPattern.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  if (isZero(traceId) || isZero(spanId)) return undefined;
  const tracestate = readTracestate(headers.tracestate);
  return { traceId, spanId, ...(tracestate === undefined ? {} : { tracestate }) };
}

function readTracestate(value: OfferedHeaders['tracestate']): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > tracestateLengthMax)
    return undefined;
  const members = value.split(',').map((member) => member.trim());
  if (members.length > tracestateMembersMax) return undefined;
  return members.every((member) => memberPattern.test(member)) ? value : undefined;
}

function isZero(hex: string): boolean {
  return /^0+$/.test(hex);
}

/** The `traceparent` of a sampled span. */
export function traceparentOf({ traceId, spanId }: TraceContext): string {
  return `00-${traceId}-${spanId}-01`;
}
