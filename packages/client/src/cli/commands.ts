/** The options of the two commands. `svc` and the program of this package read them from here. */

interface OptionSpec {
  /** Without the two hyphens. */
  readonly name: string;
  /** The name of its value. Undefined for a switch. */
  readonly value?: string;
  readonly does: string;
}

export interface CommandSpec {
  readonly name: string;
  /** One line, without a full stop. */
  readonly does: string;
  /** Command lines after the name of the program. */
  readonly examples: readonly string[];
  readonly argument?: { readonly name: string; readonly does: string };
  /** The options in addition to `--json` and `--help`, which every command has. */
  readonly options: readonly OptionSpec[];
}

export const listenCommand: CommandSpec = {
  name: 'listen',
  does: 'receive the events of a tenant on this machine, and forward them to a local address',
  examples: [
    'listen --forward-to http://localhost:3000/hooks',
    'listen --events submission.completed,submission.failed --json',
  ],
  options: [
    {
      name: 'forward-to',
      value: 'url',
      does: 'post each event to this address, signed as a webhook, until it answers 2xx',
    },
    { name: 'events', value: 'types', does: 'only these types of events, separated by commas' },
    {
      name: 'name',
      value: 'name',
      does: 'keep the endpoint under this name and read on from there next time',
    },
  ],
};

export const triggerCommand: CommandSpec = {
  name: 'trigger',
  does: 'cause an event in the sandbox by a real submission or change',
  examples: ['trigger submission.completed', 'trigger --list'],
  argument: { name: 'event', does: 'the type of the event' },
  options: [{ name: 'list', does: 'list the events that can be caused, and how' }],
};

export const environmentHelp = `Environment variables:
  SVC_BASE_URL        the address of the service, https://…
  SVC_TENANT_ID       the id of the tenant, tnt_…
  SVC_HMAC_SECRET     the secret that signs requests, hsk_…
  SVC_KEY_ID          the id of the key of that secret, if it is a named key
  SVC_WEBHOOK_SECRET  the secret that signs forwarded events, whsec_…; by default derived from SVC_HMAC_SECRET`;
