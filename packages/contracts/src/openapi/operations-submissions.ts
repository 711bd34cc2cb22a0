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
import * as examples from './annotations/examples.ts';
import type { OperationDefinition } from './operation.ts';

const id = {
  schema: WireId('sub'),
  description:
    'The id of the submission: `submissionId` in the answer of its creation and in its webhooks.',
  example: examples.submissionId,
};

const continuing = {
  read: {
    operationId: 'getSubmission',
    parameter: 'id',
    from: '/submissionId',
    description: 'Read the submission.',
  },
  cancel: {
    operationId: 'cancelSubmission',
    parameter: 'id',
    from: '/submissionId',
    description: 'Cancel the submission.',
  },
};

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
    description: `Quotes a price, holds the highest price (\`quote.max\`) and hands the job to one node. \`201\` means that a node has accepted the job. A webhook reports how the job ends; you can also read the submission. If you get no answer, repeat the request with the same \`idempotencyKey\`. After a first \`201\`, the same body gets the same answer with \`200\` and \`idempotent: true\`. The submission is never charged twice. A different body gets \`409\`. Derive keys from your own records. The default tier is \`${tierDefault}\`.`,
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
        description:
          'A node has accepted the job. The service holds the highest price, `quote.max`.',
        schema: SubmissionCreated,
        example: examples.submissionCreated,
        links: continuing,
      },
      200: {
        description: 'A replay of the first answer. Nothing is held a second time.',
        schema: SubmissionCreated,
        example: { ...examples.submissionCreated, idempotent: true },
        links: continuing,
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
      'Full records, newest first. `createdAfter` is inclusive, `createdBefore` exclusive. Pass `nextCursor` as `cursor` to get the next page.',
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
      'The current state. You may poll it. The payload is never shown. After the node has reported the outcome, the status is `running` until the submission is settled.',
    access: 'tenant',
    pathParameters: { id },
    answers: {
      200: {
        description: 'The submission.',
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
      'Before the node begins, nothing is charged. During the run, the node-seconds so far are charged, without base fee or minimum. If the submission has already ended, or its node has reported the outcome, the answer is `409 terminal_state`. It contains the final status, and the refund if a cancel ended the submission. A request body is ignored.',
    access: 'tenant',
    pathParameters: { id },
    answers: {
      200: {
        description: 'The submission is cancelled. The answer contains the refund.',
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
    summary: 'Quote a submission',
    description:
      'Send the body of a submission without `idempotencyKey`. Nothing is held. When you create the submission, it gets a new quote, which may differ from this one. It never costs more than the `quote.max` of the new quote.',
    access: 'tenant',
    request: {
      schema: QuoteRequest,
      examples: {
        application: { jobType: 'ats.application', tier: 'priority', payload: examples.payload },
      },
    },
    answers: {
      200: {
        description: 'The price. `sufficient` is true if the available credits cover `quote.max`.',
        schema: QuoteAnswer,
        example: { quote: examples.quote, sufficient: true, available: 9800 },
      },
    },
    errors: jobErrors,
  },
];
