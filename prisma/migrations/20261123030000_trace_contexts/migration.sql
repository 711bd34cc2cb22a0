-- The trace contexts that tenants sent with submissions. Only traced submissions have a row.
CREATE TABLE "trace_contexts" (
    "submission_id" UUID NOT NULL,
    "trace_id" TEXT NOT NULL,
    "span_id" TEXT NOT NULL,
    "tracestate" TEXT,

    CONSTRAINT "trace_contexts_pkey" PRIMARY KEY ("submission_id")
);

ALTER TABLE "trace_contexts"
  ADD CONSTRAINT "trace_contexts_ids" CHECK (
    "trace_id" ~ '^[0-9a-f]{32}$' AND "span_id" ~ '^[0-9a-f]{16}$'
  ),
  ADD CONSTRAINT "trace_contexts_tracestate" CHECK (char_length("tracestate") BETWEEN 1 AND 512);
