import type { FormField } from './form-model.ts';
import type { ApplicantProfile } from './profile.ts';
import { readProfile } from './read-profile.ts';

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

export function fieldOf(label: string, changes: Partial<FormField> = {}): FormField {
  return { key: label, kind: 'text', label, isRequired: false, ...changes };
}
