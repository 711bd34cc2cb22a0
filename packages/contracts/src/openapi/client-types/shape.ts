import { itemsOf, memberOf, membersOf, refName, textOf } from '../reading/read-json.ts';
import type { Direction } from './model.ts';

/** A schema in the terms of a programming language. */
export type Shape =
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'literals'; readonly values: readonly unknown[]; readonly isOpen: boolean }
  | { readonly kind: 'union'; readonly parts: readonly Shape[] }
  | { readonly kind: 'array'; readonly items: Shape }
  | { readonly kind: 'record' }
  | {
      readonly kind: 'object';
      readonly members: readonly Member[];
      /**
       * True if the schema allows further members. This matters only in a request: an answer may
       * always have further members.
       */
      readonly isOpen: boolean;
    }
  | { readonly kind: 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'unknown' };

export interface Member {
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
  readonly description: string;
}

export function shapeOf(schema: unknown, direction: Direction): Shape {
  const name = refName(schema);
  if (name !== '') return { kind: 'named', name };
  const constant = memberOf(schema, 'const');
  if (constant !== undefined) return { kind: 'literals', values: [constant], isOpen: false };
  const values = memberOf(schema, 'enum');
  if (values !== undefined) {
    return { kind: 'literals', values: itemsOf(values), isOpen: direction === 'response' };
  }
  const variants = [...itemsOf(memberOf(schema, 'anyOf')), ...itemsOf(memberOf(schema, 'oneOf'))];
  if (variants.length > 0) return unionOf(variants.map((one) => shapeOf(one, direction)));
  const type = memberOf(schema, 'type');
  if (Array.isArray(type)) {
    return unionOf(type.map((one) => shapeOf({ ...Object(schema), type: one }, direction)));
  }
  return shapeOfType(schema, textOf(type), direction);
}

/**
 * If the union has a list of values and also allows any string, these two parts become one open
 * list.
 */
function unionOf(parts: readonly Shape[]): Shape {
  const literals = parts.find((part) => part.kind === 'literals');
  const isOpen = parts.some((part) => part.kind === 'string');
  if (literals?.kind !== 'literals' || !isOpen) return { kind: 'union', parts };
  const others = parts.filter((part) => part !== literals && part.kind !== 'string');
  const open: Shape = { ...literals, isOpen: true };
  return others.length === 0 ? open : { kind: 'union', parts: [open, ...others] };
}

function shapeOfType(schema: unknown, type: string, direction: Direction): Shape {
  switch (type) {
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return { kind: type };
    case 'array':
      return { kind: 'array', items: shapeOf(memberOf(schema, 'items'), direction) };
    case 'object':
      return objectShape(schema, direction);
    default:
      return { kind: 'unknown' };
  }
}

function objectShape(schema: unknown, direction: Direction): Shape {
  const required = itemsOf(memberOf(schema, 'required'));
  const members = membersOf(memberOf(schema, 'properties')).map(([name, part]) => ({
    name,
    shape: shapeOf(part, direction),
    isRequired: required.includes(name),
    description: textOf(memberOf(part, 'description')),
  }));
  if (members.length === 0) return { kind: 'record' };
  const isOpen = memberOf(schema, 'additionalProperties') !== false;
  return { kind: 'object', members, isOpen };
}
