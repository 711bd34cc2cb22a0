import type { FormField } from './form-model.ts';
import type { ApplicantProfile } from './profile.ts';
import { readProfile } from './read-profile.ts';

/** The payload of a job with this profile, as JSON text. */
export function payloadWith(applicantProfile: unknown): string {
  return JSON.stringify({
    applicationUrl: 'https://jobs.example.com/apply/8841',
    atsType: 'generic',
    applicantProfile,
    jobContext: { title: 'Welder', company: 'Example Works' },
  });
}

export function profileFrom(applicantProfile: unknown): ApplicantProfile {
  const reading = readProfile(payloadWith(applicantProfile));
  if (reading.kind === 'invalid') throw new Error(reading.message);
  return reading.profile;
}

/** An optional text field, unless the changes say otherwise. */
export function fieldOf(label: string, changes: Partial<FormField> = {}): FormField {
  return { key: label, kind: 'text', label, isRequired: false, ...changes };
}
