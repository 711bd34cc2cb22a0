import { memberOf, textOf } from '../reading/read-json.ts';
import { type ClientTypes, type NamedType, pascalCase } from './model.ts';
import { type Member, type Shape, shapeOf } from './shape.ts';

const heading = `"""The requests, answers and events of the service.

Generated from the OpenAPI document by \`pnpm openapi:freeze\`: do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union
`;

export function pythonTypes({ types, events }: ClientTypes): string {
  const declared: Declared = { lines: [], names: [] };
  for (const type of types) declare(declared, type);
  const union = events.map(({ name }) => `    ${name},\n`).join('');
  declared.names.push('WebhookEvent');
  const all = declared.names.toSorted().map((name) => `    "${name}",\n`);
  return [
    heading,
    `__all__ = [\n${all.join('')}]\n\n`,
    ...declared.lines,
    // Python evaluates this union when the module loads, so the union follows all classes.
    `WebhookEvent = Union[\n${union}]\n"""Every known event. The service may add event types: acknowledge and ignore those you do not know."""\n`,
  ].join('\n');
}

interface Declared {
  readonly lines: string[];
  readonly names: string[];
}

function declare(declared: Declared, { name, direction, schema }: NamedType): void {
  const shape = shapeOf(schema, direction);
  const doc = textOf(memberOf(schema, 'description'));
  if (shape.kind === 'object') {
    declareObject(declared, name, shape.members, doc);
    return;
  }
  declared.names.push(name);
  // Any other type becomes an alias (`name = type`). Python evaluates it at import, so the classes
  // of its anonymous objects must come first. `text` adds them to `declared`.
  const lines = [`${name} = ${text(declared, shape, name)}`];
  if (doc !== '') lines.push(docString(doc, ''));
  declared.lines.push(`${lines.join('\n')}\n`);
}

function declareObject(
  declared: Declared,
  name: string,
  members: readonly Member[],
  doc: string,
): void {
  const lines = (list: readonly Member[]) =>
    list.flatMap((member) => {
      const type = text(declared, member.shape, name + pascalCase(member.name));
      const line = `    ${member.name}: ${type}`;
      return member.description === '' ? [line] : [line, docString(member.description, '    ')];
    });
  const required = members.filter(({ isRequired }) => isRequired);
  const optional = members.filter(({ isRequired }) => !isRequired);
  const body = (list: readonly Member[], about: string) => {
    const whole = [...(about === '' ? [] : [docString(about, '    ')]), ...lines(list)];
    return whole.length === 0 ? '    pass' : whole.join('\n');
  };
  if (optional.length > 0 && required.length > 0) {
    declared.lines.push(`class _${name}Required(TypedDict):\n${body(required, '')}\n\n`);
    declared.lines.push(
      `class ${name}(_${name}Required, total=False):\n${body(optional, doc)}\n\n`,
    );
  } else {
    const total = optional.length > 0 ? ', total=False' : '';
    declared.lines.push(`class ${name}(TypedDict${total}):\n${body(members, doc)}\n\n`);
  }
  declared.names.push(name);
}

function docString(description: string, indent: string): string {
  return `${indent}"""${description.replaceAll('\\', '\\\\').replaceAll('"""', "'''")}"""`;
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

/**
 * If a union has several anonymous objects, each class name ends with the first member of the
 * object, such as `AnswerCode` for `code` in the union `Answer`.
 */
function unionText(declared: Declared, parts: readonly Shape[], name: string): string {
  const severalObjects = parts.filter(({ kind }) => kind === 'object').length > 1;
  const texts = parts.map((part) => {
    const first = part.kind === 'object' && severalObjects ? (part.members[0]?.name ?? '') : '';
    return text(declared, part, name + pascalCase(first));
  });
  return `Union[${texts.join(', ')}]`;
}

/**
 * Returns the Python type of `shape` as text. An anonymous object is declared as the class `name`.
 */
function text(declared: Declared, shape: Shape, name: string): string {
  switch (shape.kind) {
    case 'named':
      return shape.name;
    case 'literals': {
      const values = `Literal[${shape.values.map(literal).join(', ')}]`;
      return shape.isOpen ? `Union[${values}, str]` : values;
    }
    case 'union':
      return unionText(declared, shape.parts, name);
    case 'array':
      return `list[${text(declared, shape.items, name)}]`;
    case 'object':
      declareObject(declared, name, shape.members, '');
      return name;
    case 'record':
      return 'dict[str, Any]';
    case 'string':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    case 'unknown':
      return 'Any';
  }
}
