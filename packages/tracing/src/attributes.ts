import type { SpanAttributes } from './tracing.ts';

const textLengthMax = 256;

export function boundedAttributes(attributes: SpanAttributes): SpanAttributes {
  const bounded: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    bounded[name] = typeof value === 'string' ? value.slice(0, textLengthMax) : value;
  }
  return bounded;
}
