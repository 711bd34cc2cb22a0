import * as examples from './examples.ts';

export const submissionMembers: Readonly<
  Record<string, readonly [description: string, example: unknown]>
> = {
  submissionId: ['The id of the submission.', examples.submissionId],
  'Submission.id': ['The id of the submission.', examples.submissionId],
  idempotencyKey: [
    'You can repeat a request with the same key and body: it is charged only once. Derive keys from your own records.',
    'application-8841-ana',
  ],
  jobType: ['The type of the job.', 'ats.application'],
  tier: ['The tier: how soon the job runs, and at which price.', 'standard'],
  payload: ['The input of the job.', examples.payload],
  quote: ['The quoted price.', examples.quote],
  sufficient: ['True if the available credits cover `quote.max`.', true],
  status: ['The state of the submission.', 'submitted'],
  'SubmissionCreated.status': ['A node has accepted the job.', 'dispatched'],
  'CancelAnswer.status': ['The submission is cancelled.', 'cancelled'],
  'submission.cancelled.status': ['The submission was cancelled.', 'cancelled'],
  'submission.failed.status': ['The submission failed.', 'failed'],
  'submission.late_outcome.status': ['The outcome that the node reported.', 'submitted'],
  'CancelAnswer.refund': [
    'How many credits the cancel released (`amount`) and charged (`charged`).',
    examples.refund,
  ],
  idempotent: ['Present if this answer repeats the answer to an earlier request.', true],
  actualCredits: ['The charged credits. Null until the submission has ended.', 58.25],
  refundedCredits: ['The released credits. Null until the submission has ended.', 141.75],
  usage: [
    'The usage reported so far. Empty before the first report.',
    examples.submissionDetail.usage,
  ],
  failure: ['Why the submission failed. Null if it did not.', examples.failure],
  'SubmissionFailure.code': [
    'The reason as a code. Decide by `retriable` and `outcomeUnknown`, not by the code, whether to repeat the job.',
    'posting_closed',
  ],
  'submission.failed.code': [
    'The reason as a code. Decide by `retriable` and `outcomeUnknown`, not by the code, whether to repeat the job.',
    'posting_closed',
  ],
  message: ['The reason, for people.', 'The posting is closed.'],
  retriable: ['True if the same job may succeed with a new idempotency key.', false],
  outcomeUnknown: [
    'True if the job may have been done. Check if it was done before you repeat it.',
    false,
  ],
  result: [
    'The result of the job if the status is `submitted`. Its members depend on the job type. Null if there is none.',
    examples.submissionDetail.result,
  ],
  confirmationId: ['The confirmation number that the site showed.', 'GH-55821'],
  confirmationUrl: ['The page of the confirmation.', 'https://jobs.example.com/thanks/55821'],
  details: ['Facts about the run.', { adapter: 'greenhouse', fieldsFilled: 14 }],
  lateOutcome: [
    'An outcome that a node reported after the submission ended. Null if there is none.',
    { status: 'submitted', at: '2026-03-02T09:46:12.004Z' },
  ],
  createdAt: ['The time of the creation.', '2026-03-02T09:15:00.000Z'],
  dispatchedAt: ['The time at which a node accepted the job.', '2026-03-02T09:15:00.041Z'],
  startedAt: ['The time at which the run began.', '2026-03-02T09:15:00.318Z'],
  finishedAt: ['The time at which the submission ended.', '2026-03-02T09:16:01.901Z'],
  'Submission.at': ['The time at which the node reported the outcome.', '2026-03-02T09:46:12.004Z'],
  'submission.late_outcome.at': [
    'The time at which the node reported the outcome.',
    '2026-03-02T09:46:12.004Z',
  ],
  'DeliveryAttempt.at': ['The time at which the attempt began.', '2026-03-02T09:16:02.006Z'],
  at: ['The time at which the deliveries were disabled.', '2026-03-02T09:46:12.004Z'],
  applicationUrl: [
    'The URL of the application page: http or https, with a public host and without credentials.',
    examples.payload.applicationUrl,
  ],
  atsType: [
    'The kind of the site, as a hint. In the sandbox it selects what the simulated node does.',
    'greenhouse',
  ],
  applicantProfile: ['The applicant.', examples.payload.applicantProfile],
  jobContext: ['The advertised job. Further members are allowed.', examples.payload.jobContext],
  title: ['The title of the advertised job.', 'Welder'],
  company: ['The employer.', 'Example Works'],
};
