import { Type } from 'typebox';

/**
 * The OpenTelemetry variables that the service checks and uses for traces (decision 42). The
 * exporter reads further variables, which the service does not check.
 */
export const tracingConfig = {
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://[^@]+$',
      description:
        'the base URL of an OTLP/HTTP collector, without credentials; if unset, no traces are exported',
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
      { description: 'the name of an OpenTelemetry sampler; parentbased_traceidratio if unset' },
    ),
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.Optional(
    Type.String({
      pattern: '^(0|1|0?[.][0-9]{1,9}|1[.]0{1,9})$',
      description:
        'the share of submissions that a traceidratio sampler traces, 0 to 1; 0.01 if unset',
    }),
  ),
};
