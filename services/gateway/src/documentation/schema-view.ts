import { itemsOf, memberOf, membersOf, refName, resolveRef, textOf } from '@svc/contracts';
import { Html, html, prose } from './html.ts';

/** The deepest level of members that have a row. Members below this level are not shown. */
const depthMax = 4;

interface Row {
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly notes: string;
}

export function schemaTable(document: unknown, schema: unknown): Html {
  const rows = rowsOf(document, schema, '', 1);
  if (rows.length === 0) return new Html('');
  return html`<div class="scroll" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Type</th>
          <th scope="col">Notes</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ path, type, isRequired, notes }) =>
            html`<tr>
              <td><code>${path}</code></td>
              <td>${type}${isRequired ? '' : html` <span class="quiet">(optional)</span>`}</td>
              <td>${prose(notes)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function rowsOf(document: unknown, schema: unknown, base: string, depth: number): Row[] {
  const whole = resolveRef(document, schema);
  const required = new Set(itemsOf(memberOf(whole, 'required')));
  return membersOf(memberOf(whole, 'properties')).flatMap(([name, part]) => {
    const path = base === '' ? name : `${base}.${name}`;
    const row = {
      path,
      type: typeOf(document, part),
      isRequired: required.has(name),
      notes: notesOf(resolveRef(document, part)),
    };
    const inner = depth < depthMax ? innerRows(document, part, path, depth + 1) : [];
    return [row, ...inner];
  });
}

function innerRows(document: unknown, schema: unknown, path: string, depth: number): Row[] {
  const whole = resolveRef(document, schema);
  const items = memberOf(whole, 'items');
  if (items !== undefined) return rowsOf(document, items, `${path}[]`, depth);
  const variants = variantsOf(whole).filter((one) => memberOf(one, 'type') !== 'null');
  const [only] = variants;
  if (variants.length === 1) return rowsOf(document, only, path, depth);
  return rowsOf(document, whole, path, depth);
}

function variantsOf(schema: unknown): readonly unknown[] {
  return [...itemsOf(memberOf(schema, 'anyOf')), ...itemsOf(memberOf(schema, 'oneOf'))];
}

/** Describes a type in a few words: `number or null`, `array of Submission`. */
export function typeOf(document: unknown, schema: unknown): string {
  const name = refName(schema);
  if (name !== '') return name;
  const whole = resolveRef(document, schema);
  const variants = variantsOf(whole);
  if (variants.length > 0) return variants.map((one) => typeOf(document, one)).join(' or ');
  const constant = memberOf(whole, 'const');
  if (constant !== undefined) return JSON.stringify(constant);
  const values = itemsOf(memberOf(whole, 'enum'));
  if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(' or ');
  const items = memberOf(whole, 'items');
  if (items !== undefined) return `array of ${typeOf(document, items)}`;
  const type = memberOf(whole, 'type');
  return Array.isArray(type) ? type.join(' or ') : textOf(type) || 'anything';
}

const bounds: Readonly<Record<string, (value: string) => string>> = {
  minLength: (value) => `at least ${value} characters`,
  maxLength: (value) => `at most ${value} characters`,
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  minItems: (value) => `at least ${value} items`,
  maxItems: (value) => `at most ${value} items`,
  format: (value) => `format \`${value}\``,
  pattern: (value) => `pattern \`${value}\``,
  default: (value) => `default \`${value}\``,
};

function notesOf(schema: unknown): string {
  const description = textOf(memberOf(schema, 'description'));
  const limits = Object.entries(bounds).flatMap(([keyword, words]) => {
    const value = memberOf(schema, keyword);
    return value === undefined
      ? []
      : [words(typeof value === 'string' ? value : JSON.stringify(value))];
  });
  if (memberOf(schema, 'additionalProperties') === false) limits.push('no other members');
  return [description, limits.join('; ')].filter((part) => part !== '').join(' ');
}
