import { itemsOf, memberOf, membersOf, resolveRef, textOf } from '../reading/read-json.ts';

/**
 * The direction in which a type is sent. In a `response`, an `enum` also allows other strings,
 * because the service may add values later.
 */
export type Direction = 'request' | 'response';

export interface NamedType {
  readonly name: string;
  readonly direction: Direction;
  readonly schema: unknown;
}

interface EventType {
  /** The type on the wire, such as `submission.completed`. */
  readonly type: string;
  /** The name of the type in the client libraries, such as `SubmissionCompletedEvent`. */
  readonly name: string;
}

export interface ClientTypes {
  readonly types: readonly NamedType[];
  readonly events: readonly EventType[];
}

export function clientTypes(document: unknown): ClientTypes {
  const requests = requestNames(document);
  const schemas = membersOf(memberOf(memberOf(document, 'components'), 'schemas'));
  const events = membersOf(memberOf(document, 'webhooks')).map(([type, webhook]) => ({
    type,
    name: `${pascalCase(type)}Event`,
    schema: bodyOf(memberOf(webhook, 'post')),
  }));
  return {
    types: [
      ...schemas.map(([name, schema]): NamedType => ({
        name,
        direction: requests.has(name) ? 'request' : 'response',
        schema,
      })),
      ...queries(document),
      ...events.map(({ name, schema }): NamedType => ({ name, direction: 'response', schema })),
    ],
    events: events.map(({ type, name }) => ({ type, name })),
  };
}

/** Changes a name to Pascal case: `submission.completed` becomes `SubmissionCompleted`. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function operationsOf(document: unknown): unknown[] {
  return membersOf(memberOf(document, 'paths')).flatMap(([path, methods]) =>
    path.startsWith('/v1/') ? membersOf(methods).map(([, operation]) => operation) : [],
  );
}

function bodyOf(operation: unknown): unknown {
  const content = memberOf(memberOf(operation, 'requestBody'), 'content');
  return memberOf(memberOf(content, 'application/json'), 'schema');
}

/**
 * The names of the schemas to which bodies of requests refer, directly or through other schemas.
 */
function requestNames(document: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    const ref = textOf(memberOf(value, '$ref'));
    const name = ref.split('/').at(-1) ?? '';
    if (name !== '' && !names.has(name)) {
      names.add(name);
      visit(resolveRef(document, value));
    }
    for (const item of itemsOf(value)) visit(item);
    for (const [, inner] of membersOf(value)) visit(inner);
  };
  for (const operation of operationsOf(document)) visit(bodyOf(operation));
  return names;
}

function queries(document: unknown): NamedType[] {
  return operationsOf(document).flatMap((operation) => {
    const parameters = itemsOf(memberOf(operation, 'parameters')).filter(
      (parameter) => memberOf(parameter, 'in') === 'query',
    );
    if (parameters.length === 0) return [];
    const name = `${pascalCase(textOf(memberOf(operation, 'operationId')))}Query`;
    const properties = parameters.map((parameter) => {
      const schema = Object.fromEntries(membersOf(memberOf(parameter, 'schema')));
      const description = memberOf(parameter, 'description') ?? schema['description'];
      return [textOf(memberOf(parameter, 'name')), { ...schema, description }];
    });
    const required = parameters.flatMap((parameter) =>
      memberOf(parameter, 'required') === true ? [memberOf(parameter, 'name')] : [],
    );
    const schema = {
      type: 'object',
      properties: Object.fromEntries(properties),
      required,
      additionalProperties: false,
    };
    return [{ name: firstUpper(name), direction: 'request', schema }];
  });
}

function firstUpper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
