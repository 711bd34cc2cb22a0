import { memberOf, textOf } from '../reading/read-json.ts';
import type { ClientTypes, Direction, NamedType } from './model.ts';
import { type Member, type Shape, shapeOf } from './shape.ts';

const heading = `/**
 * The requests, answers and events of the service. Generated from the OpenAPI document by
 * \`pnpm openapi:freeze\`: do not edit.
 */
`;

export function typescriptTypes({ types, events }: ClientTypes): string {
  const union = events.map(({ name }) => `\n  | ${name}`).join('');
  return [
    heading,
    ...types.map(declaration),
    `/** Every known event. The service may add event types: acknowledge and ignore those you do not know. */\nexport type WebhookEvent =${union};\n`,
  ].join('\n');
}

function declaration({ name, direction, schema }: NamedType): string {
  const shape = shapeOf(schema, direction);
  const doc = comment(textOf(memberOf(schema, 'description')), '');
  return shape.kind === 'object'
    ? `${doc}export interface ${name} ${text(shape, direction, '')}\n`
    : `${doc}export type ${name} = ${text(shape, direction, '')};\n`;
}

function comment(description: string, indent: string): string {
  return description === '' ? '' : `${indent}/** ${description.replaceAll('*/', '* /')} */\n`;
}

function text(shape: Shape, direction: Direction, indent: string): string {
  switch (shape.kind) {
    case 'named':
      return shape.name;
    case 'literals': {
      const values = shape.values.map(literal).join(' | ');
      return shape.isOpen ? `${values} | (string & {})` : values;
    }
    case 'union':
      return shape.parts.map((part) => text(part, direction, indent)).join(' | ');
    case 'array': {
      const items = text(shape.items, direction, indent);
      return `readonly ${items.includes(' ') ? `(${items})` : items}[]`;
    }
    case 'record':
      return 'Readonly<Record<string, unknown>>';
    case 'object': {
      const inner = `${indent}  `;
      const rest =
        shape.isOpen && direction === 'request'
          ? `${inner}readonly [member: string]: unknown;\n`
          : '';
      const lines = shape.members.map((member) => memberLine(member, direction, inner));
      return `{\n${lines.join('')}${rest}${indent}}`;
    }
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
    case 'unknown':
      return shape.kind;
  }
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function memberLine(member: Member, direction: Direction, indent: string): string {
  const { name, shape, isRequired, description } = member;
  const optional = isRequired ? '' : '?';
  return `${comment(description, indent)}${indent}readonly ${name}${optional}: ${text(shape, direction, indent)};\n`;
}
