import { tierDefault } from '@svc/domain';
import { WireId } from '../api/common.ts';
import {
  CancelAnswer,
  QuoteAnswer,
  QuoteRequest,
  SubmissionCreated,
  SubmissionDetail,
  SubmissionPage,
  SubmissionRequest,
  SubmissionsQuery,
} from '../api/submissions.ts';
import * as examples from './examples.ts';
import type { OperationDefinition } from './operation.ts';

const id = {
  schema: WireId('sub'),
  description: 'The submission: `submissionId` of its creation and of its webhooks.',
  example: examples.submissionId,
};

/** The codes of a job that is checked and priced. */
const jobErrors = [
  'unsupported_media_type',
  'unknown_job_type',
  'job_type_not_allowed',
  'unknown_tier',
  'quote_failed',
] as const;

export const submissionOperations: readonly OperationDefinition[] = [
  {
    operationId: 'createSubmission',
    method: 'post',
    path: '/v1/submissions',
    tag: 'Submissions',
    summary: 'Create a submission',
    description: `Quotes a price, holds the worst case and hands the job to one node. \`201\` says that a node has accepted it, not how it ends: that comes by webhook, or by reading the submission. Repeat a request whose answer you did not get with the same \`idempotencyKey\`: the same body is answered again with \`200\` and \`idempotent: true\` and is never charged twice, another body is \`409\`. Derive keys from records of your own. The tier is \`${tierDefault}\` where left out.`,
    access: 'tenant',
    request: {
      schema: SubmissionRequest,
      examples: {
        application: {
          idempotencyKey: 'application-8841-ana',
          jobType: 'ats.application',
          tier: 'standard',
          payload: examples.payload,
        },
      },
    },
    answers: {
      201: {
        description: 'A node has accepted the job; the worst case is held.',
        schema: SubmissionCreated,
        example: examples.submissionCreated,
      },
      200: {
        description: 'A replay: the first answer again. Nothing is held a second time.',
        schema: SubmissionCreated,
        example: { ...examples.submissionCreated, idempotent: true },
      },
    },
    errors: [
      ...jobErrors,
      'insufficient_credits',
      'idempotency_key_conflict',
      'terminal_state',
      'dispatch_unavailable',
    ],
  },
  {
    operationId: 'listSubmissions',
    method: 'get',
    path: '/v1/submissions',
    tag: 'Submissions',
    summary: 'List submissions',
    description:
      'Newest first, each in full. `createdAfter` is inclusive, `createdBefore` exclusive. Pages follow one another by `nextCursor`.',
    access: 'tenant',
    query: SubmissionsQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: SubmissionPage,
        example: { data: [examples.submissionDetail], nextCursor: null },
      },
    },
    errors: [],
  },
  {
    operationId: 'getSubmission',
    method: 'get',
    path: '/v1/submissions/:id',
    tag: 'Submissions',
    summary: 'Read a submission',
    description:
      'The state in force, safe to ask for again and again. The payload is never shown. Between the outcome of a node and its settlement the status is still `running`.',
    access: 'tenant',
    pathParameters: { id },
    answers: {
      200: {
        description: 'The whole record.',
        schema: SubmissionDetail,
        example: examples.submissionDetail,
      },
    },
    errors: ['not_found'],
  },
  {
    operationId: 'cancelSubmission',
    method: 'post',
    path: '/v1/submissions/:id/cancel',
    tag: 'Submissions',
    summary: 'Cancel a submission',
    description:
      'Before the node begins nothing is charged; mid-run the node-seconds so far are, without base fee or minimum. One that has ended already is `409 terminal_state`, with how it ended, and with the refund where that was a cancel. A body is ignored.',
    access: 'tenant',
    pathParameters: { id },
    answers: {
      200: {
        description: 'Cancelled, and what came back.',
        schema: CancelAnswer,
        example: {
          submissionId: examples.submissionId,
          status: 'cancelled',
          refund: examples.refund,
        },
      },
    },
    errors: ['not_found', 'terminal_state'],
  },
  {
    operationId: 'createQuote',
    method: 'post',
    path: '/v1/quotes',
    tag: 'Submissions',
    summary: 'Ask what a submission would hold',
    description:
      "Takes a submission's body without its key and holds nothing. The estimate may change; `quote.max` is the ceiling of the charge.",
    access: 'tenant',
    request: {
      schema: QuoteRequest,
      examples: {
        application: { jobType: 'ats.application', tier: 'priority', payload: examples.payload },
      },
    },
    answers: {
      200: {
        description: 'The price, and whether the available credits cover it.',
        schema: QuoteAnswer,
        example: { quote: examples.quote, sufficient: true, available: 9800 },
      },
    },
    errors: jobErrors,
  },
];
