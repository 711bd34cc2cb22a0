import { type Answer, isDecisive } from './http.ts';
import { canonical, type Json, microsOf, objectOf, textOf } from './json.ts';
import type { LoadTenant } from './tenant.ts';

/** One application that a tenant posts: one key, and any number of requests. */
export interface Application {
  readonly tenant: LoadTenant;
  readonly key: string;
  readonly body: string;
  readonly behaviour: string;
  /** The number of requests with an unknown outcome: cut off, timed out, or `503 unavailable`. */
  unanswered: number;
  /** The body of the first `201` or `200`, without the member `idempotent`. */
  created: Json | undefined;
  isFirstAnswered: boolean;
  /**
   * The error code of the last refusal. A refusal is a `402`, or a `503` that is not `unavailable`.
   * A later `201` or `200` clears this.
   */
  refusedWith: string | undefined;
  /**
   * One entry for each answer that shows the end of the submission. All entries must have the same
   * status. All charges that are not null must be equal.
   */
  readonly ends: SeenEnd[];
}

interface SeenEnd {
  readonly from: string;
  readonly status: string;
  readonly chargedMicros: bigint | null;
}

export interface Grant {
  readonly tenant: LoadTenant;
  readonly reference: string;
  readonly credits: number;
  isAnswered: boolean;
}

const ended = new Set(['submitted', 'failed', 'cancelled']);

export class Seen {
  readonly applications = new Map<string, Application>();
  readonly grants: Grant[] = [];
  readonly complaints: string[] = [];
  readonly answers = new Map<string, number>();

  add(application: Pick<Application, 'tenant' | 'key' | 'body' | 'behaviour'>): Application {
    const added: Application = {
      ...application,
      unanswered: 0,
      created: undefined,
      isFirstAnswered: false,
      refusedWith: undefined,
      ends: [],
    };
    this.applications.set(application.key, added);
    return added;
  }

  count(question: string, answer: Answer | undefined): void {
    const said =
      answer === undefined ? 'no answer' : `${answer.status} ${answer.code ?? ''}`.trim();
    const name = `${question}: ${said}`;
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
  }

  complain(about: string, what: string): void {
    this.complaints.push(`${about}: ${what}`);
  }

  /**
   * Records an answer to `POST /v1/submissions`. `wasCreated` is true if the tenant already knew of
   * the creation when it sent the request.
   */
  noteCreation(
    application: Application,
    answer: Answer | undefined,
    { wasCreated }: { readonly wasCreated: boolean },
  ): void {
    this.count('create', answer);
    const { key } = application;
    if (answer === undefined || answer.code === 'unavailable') application.unanswered += 1;
    if (!isDecisive(answer)) return;
    switch (answer.status) {
      case 201:
        // The `200` of a replay can arrive before the `201`. A second `201` is a violation.
        if (application.isFirstAnswered) this.complain(key, 'was answered 201 twice');
        application.isFirstAnswered = true;
        return this.noteCreated(application, answer.body);
      case 200: {
        const { idempotent, ...body } = answer.body;
        if (idempotent !== true)
          this.complain(key, 'was answered 200 without `"idempotent": true`');
        return this.noteCreated(application, body);
      }
      case 402:
      case 503:
        // A refusal is a violation only after a success. After a refusal, a parallel request may
        // still create the submission.
        if (wasCreated) this.complain(key, `was created, and then refused with ${answer.code}`);
        application.refusedWith = answer.code ?? '';
        return;
      default:
        this.complain(key, `was answered ${answer.status} ${answer.code}`);
    }
  }

  private noteCreated(application: Application, body: Json): void {
    application.refusedWith = undefined;
    application.created ??= body;
    if (canonical(application.created) !== canonical(body)) {
      this.complain(
        application.key,
        `was answered ${canonical(application.created)}, then ${canonical(body)}`,
      );
    }
    if (body['status'] !== 'dispatched')
      this.complain(
        application.key,
        'the answer to its creation has a status other than dispatched',
      );
  }

  noteCancel(application: Application, answer: Answer | undefined): void {
    this.count('cancel', answer);
    if (!isDecisive(answer)) return;
    if (answer.status === 200) {
      const refund = objectOf(answer.body['refund']);
      this.noteEnd(application, 'a cancel', 'cancelled', microsOf(refund['charged']));
    } else if (answer.status === 409 && answer.code === 'terminal_state') {
      const status = textOf(answer.body['submissionStatus']) ?? '';
      const refund = answer.body['refund'];
      const charged = refund === undefined ? null : microsOf(objectOf(refund)['charged']);
      this.noteEnd(application, 'a refused cancel', status, charged);
    } else {
      this.complain(application.key, `its cancel was answered ${answer.status} ${answer.code}`);
    }
  }

  noteRead(application: Application, answer: Answer | undefined): void {
    this.count('read', answer);
    if (!isDecisive(answer)) return;
    if (answer.status !== 200) {
      this.complain(application.key, `its read was answered ${answer.status} ${answer.code}`);
      return;
    }
    const status = textOf(answer.body['status']) ?? '';
    if (!ended.has(status)) return;
    this.noteEnd(application, 'a read', status, microsOf(answer.body['actualCredits']));
  }

  private noteEnd(
    application: Application,
    from: string,
    status: string,
    chargedMicros: bigint | null,
  ): void {
    if (!ended.has(status))
      this.complain(application.key, `${from} reported "${status}", which is not a final status`);
    application.ends.push({ from, status, chargedMicros });
  }
}

export function submissionIdOf({ created }: Application): string | null {
  return textOf(created?.['submissionId']);
}
