import { problemMediaType } from '../api/problem.ts';
import type { Comparison } from './reading/comparison.ts';
import { itemsOf, memberOf, membersOf, refName, resolveRef, textOf } from './reading/read-json.ts';
import { compareSchemas } from './schema-compatibility.ts';

/**
 * Compares the endpoints under /v1/, the webhooks and the shared error responses with those of the
 * frozen document (CONTRACT 0). Returns the changes that would break its clients.
 */
export function breakingChanges(frozen: unknown, present: unknown): string[] {
  const context: Comparison = { frozen, present, found: [] };
  for (const [path, methods] of membersOf(memberOf(frozen, 'paths'))) {
    if (!path.startsWith('/v1/')) continue;
    for (const [method, operation] of membersOf(methods)) {
      const at = `${method.toUpperCase()} ${path}`;
      const now = memberOf(memberOf(memberOf(present, 'paths'), path), method);
      if (now === undefined) context.found.push(`${at}: the endpoint is gone`);
      else compareOperations(context, at, operation, now);
    }
  }
  compareWebhooks(context);
  const shared = memberOf(memberOf(frozen, 'components'), 'responses');
  const sharedNow = memberOf(memberOf(present, 'components'), 'responses');
  compareResponses(context, 'errors', shared, sharedNow);
  return context.found;
}

function compareOperations(context: Comparison, at: string, was: unknown, now: unknown): void {
  for (const name of ['operationId', 'security']) {
    if (JSON.stringify(memberOf(was, name)) !== JSON.stringify(memberOf(now, name))) {
      context.found.push(`${at}: ${name} has changed`);
    }
  }
  compareParameters(context, at, was, now);
  compareBodies(context, at, memberOf(was, 'requestBody'), memberOf(now, 'requestBody'));
  compareResponses(context, at, memberOf(was, 'responses'), memberOf(now, 'responses'));
}

function compareParameters(context: Comparison, at: string, was: unknown, now: unknown): void {
  const before = parametersOf(was);
  const after = parametersOf(now);
  for (const [name, parameter] of before) {
    const other = after.get(name);
    if (other === undefined) {
      context.found.push(`${at}: ${name} is gone`);
      continue;
    }
    const schemas = [memberOf(parameter, 'schema'), memberOf(other, 'schema')] as const;
    compareSchemas(context, 'request', `${at}: ${name}`, ...schemas);
  }
  for (const [name, parameter] of after) {
    const wasRequired = memberOf(before.get(name), 'required') === true;
    if (memberOf(parameter, 'required') === true && !wasRequired) {
      context.found.push(`${at}: ${name} is required now`);
    }
  }
}

function parametersOf(operation: unknown): Map<string, unknown> {
  return new Map(
    itemsOf(memberOf(operation, 'parameters')).map((parameter) => [
      `${textOf(memberOf(parameter, 'in'))} parameter ${textOf(memberOf(parameter, 'name'))}`,
      parameter,
    ]),
  );
}

function compareBodies(context: Comparison, at: string, was: unknown, now: unknown): void {
  if (memberOf(was, 'required') !== true && memberOf(now, 'required') === true) {
    context.found.push(`${at}: a body is required now`);
  }
  compareContents(context, 'request', `${at}: body`, was, now);
}

function compareResponses(context: Comparison, at: string, was: unknown, now: unknown): void {
  for (const [status, response] of membersOf(was)) {
    const other = memberOf(now, status);
    if (other === undefined) {
      context.found.push(`${at}: answer ${status} is gone`);
      continue;
    }
    // If both documents refer to the same shared response, it is skipped here, because
    // `breakingChanges` compares it once.
    if (refName(response) !== '' && refName(response) === refName(other)) continue;
    const before = resolveRef(context.frozen, response);
    const after = resolveRef(context.present, other);
    const headers = memberOf(after, 'headers');
    for (const [name] of membersOf(memberOf(before, 'headers'))) {
      if (memberOf(headers, name) !== undefined) continue;
      context.found.push(`${at}: answer ${status}: the header ${name} is gone`);
    }
    compareContents(context, 'response', `${at}: answer ${status}`, before, after);
    compareCodes(context, `${at}: answer ${status}`, before, after);
  }
}

/**
 * Returns the error codes of a response. Each code is the name of an example in the response's
 * content of type `problemMediaType`.
 */
function codesOf(response: unknown): string[] {
  const problem = memberOf(memberOf(response, 'content'), problemMediaType);
  return membersOf(memberOf(problem, 'examples')).map(([code]) => code);
}

function compareCodes(context: Comparison, at: string, was: unknown, now: unknown): void {
  const present = codesOf(now);
  for (const code of codesOf(was)) {
    if (!present.includes(code)) context.found.push(`${at}: the code ${code} is gone`);
  }
}

function compareContents(
  context: Comparison,
  direction: 'request' | 'response',
  at: string,
  was: unknown,
  now: unknown,
): void {
  for (const [mediaType, body] of membersOf(memberOf(was, 'content'))) {
    const other = memberOf(memberOf(now, 'content'), mediaType);
    if (other === undefined) context.found.push(`${at}: the media type ${mediaType} is gone`);
    else
      compareSchemas(context, direction, at, memberOf(body, 'schema'), memberOf(other, 'schema'));
  }
}

/** Webhook bodies follow the rules of responses, because tenants receive both. */
function compareWebhooks(context: Comparison): void {
  for (const [type, webhook] of membersOf(memberOf(context.frozen, 'webhooks'))) {
    const now = memberOf(memberOf(context.present, 'webhooks'), type);
    if (now === undefined) {
      context.found.push(`webhook ${type}: the event is gone`);
      continue;
    }
    compareContents(context, 'response', `webhook ${type}`, eventBodyOf(webhook), eventBodyOf(now));
  }
}

function eventBodyOf(webhook: unknown): unknown {
  return memberOf(memberOf(webhook, 'post'), 'requestBody');
}
