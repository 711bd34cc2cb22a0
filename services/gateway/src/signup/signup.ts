import { randomBytes } from 'node:crypto';
import { type SignupAnswer, type SignupRequest } from '@svc/contracts';
import { creditsToNumber, type RatePolicy, signupGrantDefaultMicros, toWireId } from '@svc/domain';
import { newSecret } from '@svc/signing';
import { createTenant } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json, type ProblemAnswer, rateLimited } from '../http/answer.ts';
import type { OpenEndpoint, OpenRequest } from '../http/endpoint.ts';
import { refusedWebhookUrl } from '../webhooks/webhook-url.ts';
import { formField, isForm, readSignup, type SignupReading } from './read-signup.ts';
import { refusedSignupPage, signedUpPage, signupPage } from './signup-page.ts';

const path = '/signup';
const secondsPerHour = 3_600;
const launchJobTypes = ['ats.application'];

/** `GET` and `POST /signup` (CONTRACT 5). In production these routes do not exist. */
export function signupEndpoints(deps: GatewayDeps): readonly OpenEndpoint[] {
  if (deps.environment === 'production') return [];
  return [
    { access: 'open', method: 'get', path, handle: () => Promise.resolve(signupPage()) },
    {
      access: 'open',
      method: 'post',
      path,
      takesBody: true,
      handle: (request) => (isForm(request) ? signUpByForm(deps, request) : signUp(deps, request)),
    },
  ];
}

async function signUp(deps: GatewayDeps, request: OpenRequest): Promise<Answer> {
  const outcome = await open(deps, request);
  return outcome.kind === 'problem' ? outcome : json(201, outcome.signedUp);
}

async function signUpByForm(deps: GatewayDeps, request: OpenRequest): Promise<Answer> {
  const outcome = await open(deps, request);
  if (outcome.kind === 'opened') return signedUpPage(outcome.signedUp, request.baseUrl);
  const { body } = request;
  return refusedSignupPage(outcome, {
    name: formField(body, 'name'),
    webhookUrl: formField(body, 'webhookUrl'),
  });
}

type Opening = { readonly kind: 'opened'; readonly signedUp: SignupAnswer } | ProblemAnswer;

/**
 * Takes a token of the rate limit, then creates a tenant. The limit counts created tenants
 * (CONTRACT 5). Therefore the token is given back if the body is refused.
 */
async function open(deps: GatewayDeps, request: OpenRequest): Promise<Opening> {
  const bucket = `signup:${request.addressGroup}`;
  const policy = policyOf(deps);
  const decision = await deps.limiter.take(bucket, policy);
  if (!decision.allowed) {
    return rateLimited(
      decision.retryInMs,
      'Too many tenants signed up from this address. Try again later. The header `Retry-After` contains the seconds to wait.',
    );
  }
  const reading = checkSignup(deps, request);
  if (reading.kind === 'problem') {
    await deps.limiter.giveBack(bucket, policy);
    return reading;
  }
  return {
    kind: 'opened',
    signedUp: await createSandboxTenant(deps, reading.signup, request.requestId),
  };
}

function checkSignup(deps: GatewayDeps, request: OpenRequest): SignupReading {
  const reading = readSignup(request);
  if (reading.kind === 'problem') return reading;
  return refusedWebhookUrl(deps, reading.signup.webhookUrl) ?? reading;
}

function policyOf({ signupsPerHour }: GatewayDeps): RatePolicy {
  return { perSecond: signupsPerHour / secondsPerHour, burst: signupsPerHour };
}

async function createSandboxTenant(
  { store, newId, signupWebhookAttemptsPerHour, signupInFlightMax }: GatewayDeps,
  { name, webhookUrl }: SignupRequest,
  requestId: string,
): Promise<SignupAnswer> {
  const tenant = {
    id: newId(),
    name,
    allowedJobTypes: launchJobTypes,
    webhookUrl: webhookUrl ?? null,
    hmacSecret: newSecret('hsk_test', randomBytes),
    webhookSecret: newSecret('whsec', randomBytes),
    // Anyone can sign up with the URL of somebody else, so the webhook attempts are limited.
    webhookAttemptsPerHour: signupWebhookAttemptsPerHour,
    inFlightMax: signupInFlightMax,
  };
  const by = { actor: { kind: 'signup' }, requestId } as const;
  await createTenant(store, tenant, signupGrantDefaultMicros, by);
  return {
    tenantId: toWireId('tnt', tenant.id),
    hmacSecret: tenant.hmacSecret,
    webhookSecret: tenant.webhookSecret,
    allowedJobTypes: tenant.allowedJobTypes,
    balance: creditsToNumber(signupGrantDefaultMicros),
  };
}
