import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { send, type WireAnswer } from './wire.ts';

/** The OpenAPI document that a gateway serves. `violations` compares answers with it. */
export interface ApiDescription {
  readonly document: Json;
  readonly operations: readonly DescribedOperation[];
  readonly codes: readonly string[];
  /**
   * The differences between an answer and the document, one text for each. Empty if the document
   * describes the answer.
   */
  violations(asked: { method: string; target: string }, answer: WireAnswer): string[];
}

interface DescribedOperation {
  readonly method: string;
  /** For example `/v1/submissions/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly pattern: RegExp;
}

type Json = { readonly [name: string]: Json } & readonly Json[] & (string | number | boolean);

const methods = ['get', 'post', 'patch', 'put', 'delete'];
/**
 * The statuses with which a sandbox gateway may answer a request whose method and path the document
 * does not have.
 */
const statusesWithoutRoute = [400, 404, 405, 408, 413, 431];

export async function describeApi(baseUrl: string): Promise<ApiDescription> {
  const { status, text } = await send(baseUrl, { method: 'GET', target: '/openapi.json' });
  if (status !== 200) throw new Error(`the gateway answers /openapi.json with ${status}`);
  const document: Json = JSON.parse(text);
  const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false });
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  ajv.addSchema({ ...JSON.parse(text), $id: 'openapi' });
  const operations = operationsOf(document);
  const validators = new Map<string, ValidateFunction>();
  const validator = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer);
    if (known !== undefined) return known;
    const made = ajv.getSchema(`openapi#${encodeURI(pointer)}`);
    if (made === undefined) throw new Error(`the document has no schema at ${pointer}`);
    validators.set(pointer, made);
    return made;
  };
  return {
    document,
    operations,
    codes: Object.values(
      document['components']?.['schemas']?.['Problem']?.['properties']?.['code']?.['anyOf']?.[0]?.[
        'enum'
      ] ?? {},
    ).map(String),
    violations({ method, target }, answer) {
      const asked = `${method} ${target.slice(0, 100)} → ${answer.status}`;
      const path = target.split('?')[0] ?? '';
      const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
      const operation = operations.find((one) => one.method === verb && one.pattern.test(path));
      const at = responseAt(document, operation, answer.status);
      if (at === undefined) return [`${asked}: the document does not describe this status`];
      return [
        ...headerViolations(document, at, answer),
        ...(method === 'HEAD' ? [] : bodyViolations(at, answer, validator)),
      ].map((violation) => `${asked}: ${violation}`);
    },
  };
}

function operationsOf(document: Json): DescribedOperation[] {
  return Object.entries(document['paths'] ?? {}).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => ({
        method,
        path,
        operationId: String(operation['operationId']),
        pattern: new RegExp(`^${path.replaceAll('.', '[.]').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
      })),
  );
}

interface ResponseAt {
  readonly pointer: string;
  readonly response: Json;
}

/**
 * Finds the response with this status in the document. `operation` is undefined if the document has
 * no operation with the method and the path of the request.
 */
function responseAt(
  document: Json,
  operation: DescribedOperation | undefined,
  status: number,
): ResponseAt | undefined {
  const named = (name: string): ResponseAt | undefined => {
    const response = document['components']?.['responses']?.[name];
    return response === undefined
      ? undefined
      : { pointer: `/components/responses/${name}`, response };
  };
  if (operation === undefined) {
    return statusesWithoutRoute.includes(status) ? named(`Problem${status}`) : undefined;
  }
  const { path, method } = operation;
  const response = document['paths']?.[path]?.[method]?.['responses']?.[status];
  if (response === undefined) return undefined;
  const ref = response['$ref'];
  if (typeof ref === 'string') return named(ref.split('/').at(-1) ?? '');
  const pointer = `/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}`;
  return { pointer, response };
}

function headerViolations(document: Json, { response }: ResponseAt, answer: WireAnswer): string[] {
  const described = Object.keys(response['headers'] ?? {});
  return described.flatMap((name) => {
    const value = answer.headers[name.toLowerCase()];
    const header = document['components']?.['headers']?.[name];
    if (value === undefined) {
      return header?.['required'] === true ? [`the header ${name} is missing`] : [];
    }
    const pattern = header?.['schema']?.['pattern'];
    if (typeof pattern !== 'string' || new RegExp(pattern).test(value)) return [];
    return [`the header ${name} breaks its pattern: ${value}`];
  });
}

function bodyViolations(
  { pointer, response }: ResponseAt,
  answer: WireAnswer,
  validator: (pointer: string) => ValidateFunction,
): string[] {
  if (answer.status === 204) return answer.text === '' ? [] : ['the 204 answer has a body'];
  const mediaType = (answer.headers['content-type'] ?? '').split(';')[0] ?? '';
  if (response['content']?.[mediaType] === undefined)
    return [`the document does not describe the media type "${mediaType}"`];
  if (mediaType.startsWith('text/')) return [];
  const validate = validator(`${pointer}/content/${mediaType.replaceAll('/', '~1')}/schema`);
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    return ['the body is not JSON'];
  }
  if (validate(body)) return [];
  const errors = (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  return [`${errors.join(', ')} in ${answer.text.slice(0, 300)}`];
}
