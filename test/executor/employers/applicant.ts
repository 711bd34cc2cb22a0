import { createHash } from 'node:crypto';
import type { Ask, Field } from './fields.ts';

export interface ApplicantFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly sha256: string;
}

type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'options'; readonly labels: readonly string[] }
  | { readonly kind: 'check' }
  | { readonly kind: 'file'; readonly file: ApplicantFile };

/**
 * An applicant. `profile` is the `applicantProfile` that a tenant posts (CONTRACT 10, "Input").
 * `answers` are the correct answers to the questions of a form.
 */
export interface Applicant {
  readonly profile: Readonly<Record<string, unknown>>;
  readonly answers: ReadonlyMap<Ask, Answer>;
  /**
   * Strings that occur only in this profile. The tests search for them where personal data must not
   * be.
   */
  readonly canaries: readonly string[];
}

export const consentLabel = 'I have read the privacy notice and agree to it.';
const resumeBytesDefault = 20_000;

/**
 * A file whose content repeats the canary, so a search for the canary also finds an incomplete copy
 * of the file.
 */
function fileOf(name: string, canary: string, bytes: number): ApplicantFile {
  const content = Buffer.alloc(bytes, `${canary} `);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { name, contentType: 'application/pdf', bytes: content, sha256 };
}

const text = (value: string): Answer => ({ kind: 'text', text: value });
const options = (...labels: readonly string[]): Answer => ({ kind: 'options', labels });

function questionsOf(motivation: string) {
  return [
    { question: 'Country', answer: 'Ireland +353' },
    { question: 'Location (City)', answer: 'Dublin, Ireland' },
    { question: 'Are you legally authorized to work in Ireland?', answer: 'Yes' },
    { question: 'How did you hear about this job?', answer: 'A friend' },
    { question: 'Which languages do you speak?', answer: ['English', 'Portuguese'] },
    { question: 'Earliest start date', answer: '2027-02-01' },
    { question: 'Why do you want to work here?', answer: motivation },
  ];
}

const member = ({ name, contentType, bytes }: ApplicantFile) => ({
  name,
  contentType,
  base64: bytes.toString('base64'),
});

/**
 * Creates an applicant. `tag` consists of letters and digits, and makes the name and the canaries
 * differ from those of other applicants.
 */
export function createApplicant(tag: string, resumeBytes = resumeBytesDefault): Applicant {
  const given = `Aoife${tag}`;
  const family = `Canary${tag}`;
  const email = `aoife.${tag.toLowerCase()}@mail.example`;
  const phone = '+353 1 555 0123';
  const company = `Workshop ${tag}`;
  const linkedin = `https://www.linkedin.com/in/aoife-${tag.toLowerCase()}`;
  const motivation = `I build bridges${tag}.\nThey are "long", and they hold.`;
  const resume = fileOf(`resume-${tag}.pdf`, `resumecanary${tag}`, resumeBytes);
  const letter = fileOf(`letter-${tag}.pdf`, `lettercanary${tag}`, 3_000);
  const answers = new Map<Ask, Answer>([
    ['givenName', text(given)],
    ['familyName', text(family)],
    ['fullName', text(`${given} ${family}`)],
    ['email', text(email)],
    ['phone', text(phone)],
    ['country', options('Ireland +353')],
    ['location', options('Dublin, Ireland')],
    ['company', text(company)],
    ['linkedin', text(linkedin)],
    ['resume', { kind: 'file', file: resume }],
    ['coverLetter', { kind: 'file', file: letter }],
    ['authorised', options('Yes')],
    ['source', options('A friend')],
    ['languages', options('English', 'Portuguese')],
    ['startDate', text('2027-02-01')],
    ['motivation', text(motivation)],
    ['gender', options('Female')],
    ['veteran', options('I am not a protected veteran')],
    ['disability', options('I do not want to answer')],
    ['consent', { kind: 'check' }],
  ]);
  const profile = {
    basics: {
      name: `${given} ${family}`,
      givenName: given,
      familyName: family,
      email,
      phone,
      location: { city: 'Dublin', countryCode: 'IE' },
      profiles: [{ network: 'LinkedIn', url: linkedin }],
    },
    work: [{ name: company, position: 'Welder' }],
    answers: questionsOf(motivation),
    eeo: {
      gender: 'Female',
      veteran: 'I am not a protected veteran',
      disability: 'I do not want to answer',
    },
    consents: [consentLabel],
    files: { resume: member(resume), coverLetter: member(letter) },
  };
  const canaries = [
    given,
    family,
    email,
    company,
    linkedin.slice('https://'.length),
    `bridges${tag}`,
    resume.name,
    letter.name,
    `resumecanary${tag}`,
    `lettercanary${tag}`,
    ...[resume, letter].map(({ bytes }) => bytes.toString('base64').slice(0, 48)),
  ];
  return { profile, answers, canaries };
}

/**
 * The values that the employer must receive for a field. Empty for a file field, and for a field
 * that the applicant does not answer.
 */
export function expectedValues(field: Field, { answers }: Applicant): string[] {
  const answer = answers.get(field.ask);
  switch (answer?.kind) {
    case undefined:
    case 'file':
      return [];
    case 'check':
      return [field.options?.[0]?.value ?? 'on'];
    case 'options':
      return answer.labels.map(
        (label) => field.options?.find((option) => option.label === label)?.value ?? label,
      );
    case 'text':
      return [answer.text];
  }
}
