import type { Applicant, ApplicantFile } from './applicant.ts';
import { ashby } from './ats/ashby.ts';
import { generic } from './ats/generic.ts';
import { greenhouseLegacy } from './ats/greenhouse-legacy.ts';
import { greenhouse, greenhouseEmbed } from './ats/greenhouse.ts';
import { lever } from './ats/lever.ts';
import { workable } from './ats/workable.ts';
import type { Ats, Behaviour } from './behaviours.ts';
import type { Ask, Field } from './fields.ts';
import { jsonAnswer, pageAnswer, redirect } from './pages/html.ts';
import { captchaResource, signInPage } from './pages/walls.ts';
import { type Bytes, type FixtureAnswer, type FixtureRequest, listen } from './server/listen.ts';
import {
  type AtsFixture,
  differences,
  type Submission,
  visitCookie,
  type World,
} from './server/world.ts';

const fixtures: Readonly<Record<Ats, AtsFixture>> = {
  greenhouse,
  'greenhouse-legacy': greenhouseLegacy,
  'greenhouse-embed': greenhouseEmbed,
  lever,
  ashby,
  workable,
  generic,
};

/**
 * The reason why an applicant tracking system cannot show a behaviour. Undefined if its fixture
 * shows the behaviour.
 */
export function whyNotShown(ats: Ats, behaviour: Behaviour): string | undefined {
  return fixtures[ats].unshown[behaviour];
}

export interface Employer {
  /** The address of the application page. Its host is only in the map `hosts`, not in the DNS. */
  readonly url: string;
  readonly port: number;
  /**
   * For `--map-host`. Each key is a host name of the fixture with `:80`. Each value is the address
   * and the port at which the server listens.
   */
  readonly hosts: ReadonlyMap<string, { readonly address: string; readonly port: number }>;
  readonly fields: readonly Field[];
  /** Each application that arrived whole, in the order of arrival. */
  submissions(): readonly Submission[];
  requests(): readonly string[];
  differences(applicant: Applicant, received: Submission): string[];
  bytes(): Bytes;
  close(): Promise<void>;
}

export interface EmployerOptions {
  readonly ats: Ats;
  readonly behaviour?: Behaviour;
  /** Called when an application has arrived whole, before it is answered. */
  readonly onSubmission?: () => void;
  /** If given, the form asks only these questions. */
  readonly asks?: readonly Ask[];
  /** More files that the server serves, by URL path. A profile can name the URL of such a file. */
  readonly files?: ReadonlyMap<string, ApplicantFile>;
}

const unanswered: Partial<Record<Behaviour, Pick<Field, 'ask' | 'label' | 'isRequired'>>> = {
  'missing-answer': { ask: 'colour', label: 'Which colour do you like best?', isRequired: true },
  'optional-empty': { ask: 'pronouns', label: 'Which pronouns do you use?', isRequired: false },
};

function fieldsOf({ fields, extraName }: AtsFixture, behaviour: Behaviour): readonly Field[] {
  const extra = unanswered[behaviour];
  return extra === undefined ? fields : [...fields, { ...extra, name: extraName, control: 'text' }];
}

function optionsOf({ query }: FixtureRequest, { fields }: World): FixtureAnswer {
  const typed = (query.get('q') ?? '').toLowerCase();
  const field = fields.find(({ name }) => name === query.get('field'));
  const found = (field?.options ?? []).filter(({ label }) => label.toLowerCase().includes(typed));
  return jsonAnswer(200, found);
}

function respond(fixture: AtsFixture, request: FixtureRequest, world: World): FixtureAnswer {
  const { path } = request;
  if (path === '/options') return optionsOf(request, world);
  if (path === '/users/sign_in') return signInPage();
  const captcha = captchaResource(request);
  if (captcha !== undefined) return captcha;
  const applicationPath = fixture.applicationPath.split('?')[0];
  if (world.behaviour === 'sign-in-wall' && path === applicationPath) {
    return redirect('/users/sign_in');
  }
  return (
    fixture.respond(request, world) ?? pageAnswer('Not found', '<h1>404</h1>', { status: 404 })
  );
}

/**
 * Starts the site of an employer on 127.0.0.1, with forms like those of the applicant tracking
 * system `ats`. Throws if `ats` cannot show `behaviour`.
 */
export async function startEmployer({
  ats,
  behaviour = 'success',
  onSubmission,
  asks,
  files,
}: EmployerOptions): Promise<Employer> {
  const fixture = fixtures[ats];
  const reason = whyNotShown(ats, behaviour);
  if (reason !== undefined)
    throw new Error(`the ATS ${ats} cannot show the behaviour ${behaviour}: ${reason}`);
  const all = fieldsOf(fixture, behaviour);
  const fields = asks === undefined ? all : all.filter(({ ask }) => asks.includes(ask));
  const world: World = { behaviour, fields, submissions: [], uploads: new Map(), visits: 0 };
  const requests: string[] = [];
  const server = await listen((request) => {
    requests.push(`${request.method} ${request.host}${request.path}`);
    const file = files?.get(request.path);
    if (file !== undefined) {
      const headers = { 'content-type': file.contentType };
      return { status: 200, headers, body: file.bytes };
    }
    const before = world.submissions.length;
    const answer = respond(fixture, request, world);
    if (world.submissions.length > before) onSubmission?.();
    if (answer === 'cut') return answer;
    return { ...answer, headers: { ...visitCookie(world, request), ...answer.headers } };
  });
  const address = { address: '127.0.0.1', port: server.port };
  return {
    url: `http://${fixture.hosts[0]}${fixture.applicationPath}`,
    port: server.port,
    hosts: new Map(fixture.hosts.map((host) => [`${host}:80`, address])),
    fields,
    submissions: () => world.submissions,
    requests: () => requests,
    differences: (applicant, received) => differences(world, applicant, received),
    bytes: () => server.bytes(),
    close: () => server.close(),
  };
}
