interface Span {
  /** Index of the first UTF-16 code unit of the value in the document's text. */
  readonly start: number;
  /** Index after the last code unit of the value. */
  readonly end: number;
}
export interface JsonLiteral extends Span {
  readonly kind: 'literal';
  readonly value: boolean | null;
}
export interface JsonNumber extends Span {
  readonly kind: 'number';
  /** The text of the number, exactly as sent. */
  readonly text: string;
}
export interface JsonString extends Span {
  readonly kind: 'string';
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
  /** In the order sent, including duplicate names. */
  readonly members: readonly JsonMember[];
  readonly duplicateNames: readonly string[];
}
export type JsonNode = JsonLiteral | JsonNumber | JsonString | JsonArray | JsonObject;

/** A string that cannot be stored or passed on safely: it has U+0000 or an unpaired surrogate. */
export interface UnsafeString {
  /**
   * JSON Pointer to the string. If the string is a member's name, the pointer leads to the object
   * that has the member.
   */
  readonly pointer: string;
  readonly where: 'name' | 'value';
  readonly found: 'nul' | 'lone_surrogate';
}
export interface JsonDocument {
  readonly text: string;
  readonly root: JsonNode;
  /** The first unsafe strings of the text, at most 20. */
  readonly unsafeStrings: readonly UnsafeString[];
}
