import { createHash } from 'node:crypto';
import { expectedValues, type Applicant } from '../applicant.ts';
import type { Behaviour } from '../behaviours.ts';
import type { Field } from '../fields.ts';
import type { FixtureAnswer, FixtureRequest } from './listen.ts';
import type { ReceivedFile, ReceivedForm } from './multipart.ts';

/** An application that the server has received whole, whatever the verdict is. */
export interface Submission extends ReceivedForm {
  /** The number in the browser's `visit` cookie. Undefined without the cookie. */
  readonly visit: string | undefined;
}

export type Verdict =
  | { readonly kind: 'accepted'; readonly confirmationId: string }
  | { readonly kind: 'captcha' }
  | { readonly kind: 'fields'; readonly refused: readonly Field[] }
  | { readonly kind: 'refused' }
  | { readonly kind: 'error' }
  | { readonly kind: 'cut' };

export interface World {
  readonly behaviour: Behaviour;
  readonly fields: readonly Field[];
  readonly submissions: Submission[];
  /** Uploaded files by the address that the server gave them. */
  readonly uploads: Map<string, ReceivedFile>;
  visits: number;
}

export interface AtsFixture {
  /** Host names of the fixture. The first host serves `applicationPath`. */
  readonly hosts: readonly string[];
  readonly applicationPath: string;
  readonly fields: readonly Field[];
  /** The name of the question that some behaviours add. */
  readonly extraName: string;
  /** Behaviours that this ATS cannot show, each with the reason. */
  readonly unshown: Partial<Record<Behaviour, string>>;
  respond(request: FixtureRequest, world: World): FixtureAnswer | undefined;
}

function isAnswered(field: Field, { fields, files }: ReceivedForm): boolean {
  if (field.control === 'file') return files.some((file) => file.field === field.name);
  return (fields[field.name] ?? []).some((value) => value !== '');
}

export function receive(world: World, form: ReceivedForm, visit: string | undefined): Verdict {
  world.submissions.push({ ...form, visit });
  const missing = world.fields.filter((field) => field.isRequired && !isAnswered(field, form));
  switch (world.behaviour) {
    case 'captcha-refused':
      return { kind: 'captcha' };
    case 'field-errors':
      return { kind: 'fields', refused: world.fields.filter(({ ask }) => ask === 'email') };
    case 'refusal-200':
      return { kind: 'refused' };
    case 'error-500':
      return { kind: 'error' };
    case 'cut':
      return { kind: 'cut' };
    case 'success':
    case 'posting-closed':
    case 'visible-challenge':
    case 'invisible-captcha':
    case 'sign-in-wall':
    case 'missing-answer':
    case 'optional-empty':
    case 'upload-refused':
    case 're-render':
    case 'late-render':
    case 'double-submit':
    case 'multi-step':
      return missing.length > 0
        ? { kind: 'fields', refused: missing }
        : { kind: 'accepted', confirmationId: confirmationIdOf(world) };
  }
}

function confirmationIdOf({ submissions }: World): string {
  return `APP-${1000 + submissions.length}`;
}

export function keepUpload(world: World, file: ReceivedFile): string {
  const key = createHash('sha256').update(`${world.uploads.size} ${file.sha256}`).digest('hex');
  const address = `/uploads/${key.slice(0, 24)}/${file.name}`;
  world.uploads.set(address, file);
  return address;
}

/**
 * The header that sets the `visit` cookie to a new number. Empty if the request already has the
 * cookie.
 */
export function visitCookie(world: World, { visit }: FixtureRequest): Record<string, string> {
  if (visit !== undefined) return {};
  world.visits += 1;
  return { 'set-cookie': `visit=${world.visits}; Path=/; HttpOnly` };
}

export function differences(
  { fields }: Pick<World, 'fields'>,
  applicant: Applicant,
  received: Submission,
): string[] {
  return fields.flatMap((field) => {
    if (field.control !== 'file') {
      const expected = expectedValues(field, applicant).toSorted();
      const values = (received.fields[field.name] ?? []).filter((value) => value !== '').toSorted();
      return JSON.stringify(values) === JSON.stringify(expected)
        ? []
        : [`${field.name}: ${JSON.stringify(values)} instead of ${JSON.stringify(expected)}`];
    }
    const answer = applicant.answers.get(field.ask);
    const files = received.files.filter((file) => file.field === field.name);
    const hashes = answer?.kind === 'file' ? [answer.file.sha256] : [];
    const names = answer?.kind === 'file' ? [answer.file.name] : [];
    const isSame =
      JSON.stringify(files.map(({ sha256 }) => sha256)) === JSON.stringify(hashes) &&
      JSON.stringify(files.map(({ name }) => name)) === JSON.stringify(names);
    return isSame
      ? []
      : [
          `${field.name}: ${files.length} files instead of ${hashes.length}, or other files than expected`,
        ];
  });
}
