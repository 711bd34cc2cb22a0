import { randomBytes } from 'node:crypto';
import type { EndedSpan } from './span-data.ts';
import { steps } from './steps.ts';
import { type OfferedHeaders, readTraceContext, type TraceContext } from './trace-context.ts';
import type { RequestEnd, RequestTrace } from './tracing.ts';

export function newRoot(): { traceId: string; spanId: string } {
  return { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') };
}

/**
 * Traces one request. The span of a request that creates a submission is the submission's first
 * step.
 */
export function traceRequest(
  headers: OfferedHeaders,
  deps: {
    /** Decides if the span of a request that created this submission is recorded. */
    readonly isTraced: (submissionId: string) => boolean;
    /** Decides if the span of any other request is recorded. */
    readonly isRequestTraced: () => boolean;
    /** Never rejects. */
    readonly storeContext: (submissionId: string, context: TraceContext) => Promise<void>;
    readonly nowMs: () => number;
    readonly add: (span: EndedSpan) => void;
  },
): RequestTrace {
  const startMs = deps.nowMs();
  let createdId: string | undefined;
  return {
    async created(submissionId) {
      createdId = submissionId;
      if (!deps.isTraced(submissionId)) return;
      const context = readTraceContext(headers);
      if (context !== undefined) await deps.storeContext(submissionId, context);
    },
    end(end) {
      const isTraced = createdId === undefined ? deps.isRequestTraced() : deps.isTraced(createdId);
      if (!isTraced) return;
      deps.add({
        ...describe(end),
        startMs,
        endMs: deps.nowMs(),
        links: [],
        belongs:
          createdId === undefined
            ? ownTrace(readTraceContext(headers))
            : {
                kind: 'step',
                ref: { step: 'request', subjectId: createdId },
                isSubmission: true,
              },
      });
    },
  };
}

function ownTrace(parent: TraceContext | undefined): EndedSpan['belongs'] {
  const own = newRoot();
  return { kind: 'own', ...own, traceId: parent?.traceId ?? own.traceId, parent };
}

function describe({ method, route, status, tenantId, submissionId }: RequestEnd) {
  return {
    name: route === undefined ? method : `${method} ${route}`,
    kind: steps.request.kind,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'svc.tenant.id': tenantId,
      'submission.id': submissionId,
    },
    error: errorOf(status),
  };
}

/** A refusal (4xx) is an error of the client, so the span has no error. */
function errorOf(status: number | undefined): string | undefined {
  if (status === undefined) return 'aborted';
  return status >= 500 ? String(status) : undefined;
}
