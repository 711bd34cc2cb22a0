import type { Client } from '../client-methods.ts';
import { type CommandContext, plain } from './context.ts';
import { CommandError } from './failure.ts';

const endTimeoutMs = 120_000;
const pollMs = 500;

type Facts = Readonly<Record<string, unknown>>;

interface Trigger {
  readonly does: string;
  readonly run: (context: CommandContext) => Promise<Facts>;
}

/** The events that a sandbox can cause without a payment (docs/SANDBOX.md). */
const triggers: Readonly<Record<string, Trigger>> = {
  'submission.completed': {
    does: 'a submission with atsType sandbox.succeed',
    run: ({ client }) => submitToEnd(client, 'sandbox.succeed'),
  },
  'submission.failed': {
    does: 'a submission with atsType sandbox.fail',
    run: ({ client }) => submitToEnd(client, 'sandbox.fail'),
  },
  'submission.cancelled': {
    does: 'a submission with atsType sandbox.slow that is cancelled when it runs',
    run: (context) => submitAndCancel(context, {}),
  },
  'submission.late_outcome': {
    does: 'a submission with atsType sandbox.slow whose node ignores the cancel (event within 2 minutes)',
    run: (context) => submitAndCancel(context, { ignoresCancel: true }),
  },
  'credits.low_balance': {
    does: 'a change of lowBalanceThreshold to a value above the balance, then the change back; each change also causes settings.changed',
    run: async ({ client }) => {
      const { balance } = await client.balance();
      return changeThreshold(client, () => balance + 1, balance);
    },
  },
  'settings.changed': {
    does: 'a change of lowBalanceThreshold, then the change back to the old value: two events',
    run: ({ client }) => changeThreshold(client, (threshold) => threshold + 0.000_001),
  },
  'webhook.test': {
    does: 'a test of each enabled webhook endpoint, and of the URL of the settings if it is set',
    run: ({ client }) => testAll(client),
  },
};

export function listTriggers({ write, isJson }: Pick<CommandContext, 'isJson' | 'write'>): void {
  const list = Object.entries(triggers).map(([event, { does }]) => ({ event, does }));
  if (isJson) return write(JSON.stringify(list, null, 2));
  for (const { event, does } of list) write(`${event.padEnd(24)}  ${does}`);
}

/**
 * Causes `event` in the sandbox. Throws `CommandError` if `event` is undefined or not in
 * `triggers`, or if the environment is not a sandbox.
 */
export async function trigger(context: CommandContext, event: string | undefined): Promise<void> {
  const isKnown = event !== undefined && Object.hasOwn(triggers, event);
  const chosen = isKnown ? triggers[event] : undefined;
  if (event === undefined || chosen === undefined) {
    const what =
      event === undefined ? 'Name an event.' : `\`trigger\` cannot cause ${plain(event)}.`;
    throw new CommandError(`${what} \`trigger --list\` shows the events that it can cause.`, 2);
  }
  const { environment } = await context.client.getSettings();
  if (environment !== 'sandbox') {
    throw new CommandError(
      `The environment is ${environment}. \`trigger\` works only in a sandbox.`,
    );
  }
  const facts = await chosen.run(context);
  if (context.isJson) return context.write(JSON.stringify({ event, ...facts }));
  context.write(plain(`${event}: ${chosen.does}`));
  for (const [name, value] of Object.entries(facts)) {
    context.write(plain(`  ${name}  ${typeof value === 'string' ? value : JSON.stringify(value)}`));
  }
}

async function submit(client: Client, atsType: string, sandbox: Facts): Promise<string> {
  const { submissionId } = await client.submit({
    idempotencyKey: `svc-trigger-${crypto.randomUUID()}`,
    jobType: 'ats.application',
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/trigger',
      atsType,
      applicantProfile: { basics: { name: 'Ana Pérez' } },
      jobContext: { title: 'Welder', company: 'Example Works', sandbox },
    },
  });
  return submissionId;
}

async function submitToEnd(client: Client, atsType: string): Promise<Facts> {
  const submissionId = await submit(client, atsType, {});
  const { status } = await client.waitFor(submissionId, { timeoutMs: endTimeoutMs });
  return { submissionId, status };
}

async function submitAndCancel({ client, pause }: CommandContext, sandbox: Facts): Promise<Facts> {
  const submissionId = await submit(client, 'sandbox.slow', sandbox);
  // Wait until the job runs. A job that has not begun is cancelled without a charge, and has no
  // late outcome.
  const waiting = ['pending', 'dispatched'];
  while (waiting.includes((await client.getSubmission(submissionId)).status)) await pause(pollMs);
  const { status, refund } = await client.cancel(submissionId);
  return { submissionId, status, refund };
}

async function changeThreshold(
  client: Client,
  changed: (threshold: number) => number,
  /** A higher threshold is first lowered to this value. */
  firstMax = Infinity,
): Promise<Facts> {
  const { lowBalanceThreshold } = await client.getSettings();
  try {
    if (lowBalanceThreshold > firstMax) {
      await client.changeSettings({ lowBalanceThreshold: firstMax });
    }
    const next = Number(changed(lowBalanceThreshold).toFixed(6));
    await client.changeSettings({ lowBalanceThreshold: next });
  } finally {
    await client.changeSettings({ lowBalanceThreshold });
  }
  return { lowBalanceThreshold };
}

async function testAll(client: Client): Promise<Facts> {
  const { data } = await client.listWebhookEndpoints();
  const { webhookUrl } = await client.getSettings();
  const enabled = data.filter(({ disabled }) => disabled === null);
  if (enabled.length === 0 && webhookUrl === null) {
    throw new CommandError(
      'The tenant has no webhook URL and no enabled endpoint. Start `listen` first.',
    );
  }
  const queued = [];
  for (const { id } of enabled) queued.push(await client.testWebhookEndpoint(id));
  if (webhookUrl !== null) queued.push(await client.testWebhook());
  return { deliveries: queued.map(({ deliveryId }) => deliveryId) };
}
