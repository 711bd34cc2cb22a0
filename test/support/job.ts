/**
 * A valid body of a submission. `changes` replaces or adds members, for example to make the body
 * invalid.
 */
export function job(idempotencyKey: string, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    idempotencyKey,
    jobType: 'ats.application',
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType: 'greenhouse',
      applicantProfile: { name: 'Ana Pérez', email: 'ana@example.com' },
      jobContext: { title: 'Welder', company: 'Example Works' },
    },
    ...changes,
  };
}
