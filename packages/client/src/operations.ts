import { type Call, having } from './call.ts';
import type { ApiError } from './errors.ts';
import { withQuery } from './pages.ts';
import type {
  Balance,
  CancelAnswer,
  Delivery,
  DeliveryQueued,
  KeyCreated,
  KeyList,
  KeyRequest,
  PurchaseIntent,
  QuoteAnswer,
  QuoteRequest,
  RateCard,
  Readiness,
  Settings,
  SettingsChange,
  Submission,
  SubmissionCreated,
  SubmissionRequest,
} from './types.ts';

/** The request of each operation, and how its answer is recognised. */

export const submissionsPath = '/v1/submissions';
export const transactionsPath = '/v1/credits/transactions';
export const deliveriesPath = '/v1/webhooks/deliveries';
export const auditPath = '/v1/audit';
const keysPath = '/v1/keys';
const intentsPath = '/v1/credits/purchase-intents';

function get<Result extends object>(path: string, member: keyof Result & string): Call<Result> {
  return { method: 'GET', path, read: having<Result>(member) };
}

function post<Result extends object>(
  path: string,
  body: object | undefined,
  member: keyof Result & string,
  isOnce?: boolean,
): Call<Result> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return { method: 'POST', path, body: text, isOnce, read: having<Result>(member) };
}

function under(path: string, id: string): string {
  return `${path}/${encodeURIComponent(id)}`;
}

/** The key makes it repeatable. */
export const submit = (request: SubmissionRequest) =>
  post<SubmissionCreated>(submissionsPath, request, 'submissionId');

export const quote = (request: QuoteRequest) => post<QuoteAnswer>('/v1/quotes', request, 'quote');

export const getSubmission = (id: string) => get<Submission>(under(submissionsPath, id), 'id');

export const cancel = (id: string): Call<CancelAnswer> => ({
  ...post<CancelAnswer>(`${under(submissionsPath, id)}/cancel`, undefined, 'refund'),
  readRepeat: earlierCancel,
});

/** If the answer of a cancel was lost, its repeat is refused with the refund of the first one. */
function earlierCancel({ code, problem }: ApiError): CancelAnswer | undefined {
  const { submissionId, submissionStatus, refund } = problem;
  const isEarlier = code === 'terminal_state' && submissionStatus === 'cancelled';
  return isEarlier && submissionId && refund
    ? { submissionId, status: 'cancelled', refund }
    : undefined;
}

export const balance = () => get<Balance>('/v1/credits/balance', 'available');
export const rateCard = () => get<RateCard>('/v1/rate-card', 'jobTypes');
export const getSettings = () => get<Settings>('/v1/settings', 'tenantId');

export const changeSettings = (change: SettingsChange): Call<Settings> => ({
  ...post<Settings>('/v1/settings', change, 'tenantId'),
  method: 'PATCH',
});

/** Each test event is a new one, so a lost answer is not repeated. */
export const testWebhook = () =>
  post<DeliveryQueued>('/v1/webhooks/test', undefined, 'deliveryId', true);

export const getDelivery = (id: string) => get<Delivery>(under(deliveriesPath, id), 'attempts');

/** A repeat could start a second round of attempts. */
export const redeliver = (id: string) =>
  post<DeliveryQueued>(`${under(deliveriesPath, id)}/redeliver`, undefined, 'deliveryId', true);

export const listKeys = () => get<KeyList>(keysPath, 'data');

/** A repeat could leave a second key. */
export const createKey = (request: KeyRequest) =>
  post<KeyCreated>(keysPath, request, 'hmacSecret', true);

/** If the answer of a deletion was lost, its repeat finds no key. */
export const deleteKey = (keyId: string): Call<{ readonly keyId: string }> => ({
  method: 'DELETE',
  path: under(keysPath, keyId),
  read: (text) => (text === '' ? { keyId } : undefined),
  readRepeat: ({ code }) => (code === 'not_found' ? { keyId } : undefined),
});

/** It has no key, so a repeat could leave a second intent. */
export const createPurchaseIntent = (request: {
  readonly credits: number;
  readonly token?: string;
}) => post<PurchaseIntent>(intentsPath, { token: 'USDC', ...request }, 'solanaPayUrl', true);

export const getPurchaseIntent = (reference: string) =>
  get<PurchaseIntent>(under(intentsPath, reference), 'solanaPayUrl');

const awaitSecondsDefault = 30;

export const awaitPurchaseIntent = (
  reference: string,
  timeoutSeconds: number | undefined,
): Call<PurchaseIntent> => ({
  ...get<PurchaseIntent>(
    withQuery(`${under(intentsPath, reference)}/await`, { timeoutSeconds }),
    'solanaPayUrl',
  ),
  waitMs: (timeoutSeconds ?? awaitSecondsDefault) * 1000,
});

export const purchaseIntentQr = (reference: string): Call<string> => ({
  method: 'GET',
  path: `${under(intentsPath, reference)}/qr.svg`,
  read: (text) => (text.includes('<svg') ? text : undefined),
});

/** `not_ready` has the status 503 and is an answer. */
export const ready = (): Call<Readiness> => {
  const call = get<Readiness>('/ready', 'status');
  return {
    ...call,
    isOpen: true,
    // The status of a problem is a number.
    read: (text) => {
      const readiness = call.read(text);
      return typeof readiness?.status === 'string' ? readiness : undefined;
    },
  };
};
