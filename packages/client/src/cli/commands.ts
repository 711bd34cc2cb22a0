/**
 * The commands `listen` and `trigger` with their options. `svc` and the program of this package
 * read them from here.
 */

interface OptionSpec {
  /** The name without the two hyphens. */
  readonly name: string;
  /** The placeholder of the option's value in the help. Undefined if the option takes no value. */
  readonly value?: string;
  readonly does: string;
}

export interface CommandSpec {
  readonly name: string;
  /** The description in the help: one line, without a full stop. */
  readonly does: string;
  /** Example command lines, without the name of the program. */
  readonly examples: readonly string[];
  readonly argument?: { readonly name: string; readonly does: string };
  /** The options, without `--json` and `--help`. Every command has these two. */
  readonly options: readonly OptionSpec[];
}

export const listenCommand: CommandSpec = {
  name: 'listen',
  does: 'receive the events of a tenant on this machine, and forward them if --forward-to is set',
  examples: [
    'listen --forward-to http://localhost:3000/hooks',
    'listen --events submission.completed,submission.failed --json',
  ],
  options: [
    {
      name: 'forward-to',
      value: 'url',
      does: 'post each event, signed as a webhook, to this address; repeat it until the answer is 2xx',
    },
    { name: 'events', value: 'types', does: 'only these types of events, separated by commas' },
    {
      name: 'name',
      value: 'name',
      does: 'keep the webhook endpoint of this name when the command stops; the next start with the name also gets the events in between',
    },
  ],
};

export const triggerCommand: CommandSpec = {
  name: 'trigger',
  does: 'cause an event in the sandbox: with a submission, a change of settings or a test',
  examples: ['trigger submission.completed', 'trigger --list'],
  argument: { name: 'event', does: 'the type of the event' },
  options: [{ name: 'list', does: 'list the events that this command can cause, and how' }],
};

export const environmentHelp = `Environment variables:
  SVC_BASE_URL        the address of the service, https://…
  SVC_TENANT_ID       the id of the tenant, tnt_…
  SVC_HMAC_SECRET     the secret that signs requests, hsk_…
  SVC_KEY_ID          the id of the key that SVC_HMAC_SECRET belongs to, if the key has an id
  SVC_WEBHOOK_SECRET  the secret that signs forwarded events, whsec_…; by default derived from SVC_HMAC_SECRET`;
