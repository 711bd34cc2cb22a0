/** JSON values with where they stand in their text; what `parseJsonDocument` makes. */

interface Span {
  /** Index of the first UTF-16 code unit of the value in the document's text. */
  readonly start: number;
  /** Index behind its last code unit. */
  readonly end: number;
}
export interface JsonLiteral extends Span {
  readonly kind: 'literal';
  readonly value: boolean | null;
}
export interface JsonNumber extends Span {
  readonly kind: 'number';
  /** All digits as sent. */
  readonly text: string;
}
export interface JsonString extends Span {
  readonly kind: 'string';
  /** The string by value, escapes resolved. */
  readonly value: string;
}
export interface JsonArray extends Span {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}
export interface JsonMember {
  readonly name: string;
  readonly value: JsonNode;
}
export interface JsonObject extends Span {
  readonly kind: 'object';
  /** In the order sent, names that come twice included. */
  readonly members: readonly JsonMember[];
  readonly duplicateNames: readonly string[];
}
export type JsonNode = JsonLiteral | JsonNumber | JsonString | JsonArray | JsonObject;

/** A string that cannot be stored or passed on safely: it holds U+0000 or half a surrogate pair. */
export interface UnsafeString {
  /** JSON Pointer to the string, or, for a member's name, to the object that has the member. */
  readonly pointer: string;
  readonly where: 'name' | 'value';
  readonly found: 'nul' | 'lone_surrogate';
}
export interface JsonDocument {
  readonly text: string;
  readonly root: JsonNode;
  readonly unsafeStrings: readonly UnsafeString[];
}
