import { Type } from 'typebox';

/** OpenTelemetry's own variables for traces (decision 42). The exporter reads other ones itself. */
export const tracingConfig = {
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://[^@]+$',
      description: 'the base URL of an OTLP/HTTP collector, without credentials; unset: no traces',
    }),
  ),
  OTEL_TRACES_SAMPLER: Type.Optional(
    Type.Union(
      [
        Type.Literal('always_on'),
        Type.Literal('always_off'),
        Type.Literal('traceidratio'),
        Type.Literal('parentbased_always_on'),
        Type.Literal('parentbased_always_off'),
        Type.Literal('parentbased_traceidratio'),
      ],
      { description: 'a sampler of OpenTelemetry by its name; parentbased_traceidratio if unset' },
    ),
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.Optional(
    Type.String({
      pattern: '^(0|1|0?[.][0-9]{1,9}|1[.]0{1,9})$',
      description: 'the share of submissions that are traced, 0 to 1; 0.01 if unset',
    }),
  ),
};
