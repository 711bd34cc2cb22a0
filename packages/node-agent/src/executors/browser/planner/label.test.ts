import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normaliseLabel } from './label.ts';

describe('normaliseLabel', () => {
  test.each([
    ['First Name', 'first name'],
    ['  First\u00a0\n name * ', 'first name'],
    ['First_Name✱', 'first name'],
    ['E-mail', 'e mail'],
    ['Ｅｍａｉｌ', 'email'],
    ['STRASSE', 'strasse'],
    ['Straße', 'strasse'],
    ['STRAẞE', 'strasse'],
    ['ΟΔΌΣ', 'οδόσ'],
    ['Cafe\u0301', 'café'],
    ['ﬁne', 'fine'],
    ['I agree.', 'i agree'],
    ['कि', 'कि'],
    ['1\ufe0f\u20e3 choice', '1 \u20e3 choice'],
    ['***', ''],
    ['', ''],
  ])('%j becomes %j', (text, expected) => {
    expect(normaliseLabel(text)).toBe(expected);
  });

  test.each([
    'Phone (required)',
    'Phone (Optional)',
    'Phone [REQUIRED]',
    '(required) Phone',
    'Phone *(required)',
    'Phone * required',
    'Phone*Required',
    'Phone - optional',
    'Phone – required *',
    'Phone（必須）',
    'Phone (erforderlich)',
  ])('the mark in %j is dropped', (text) => {
    expect(normaliseLabel(text)).toBe('phone');
  });

  test.each([
    ['Is a visa required?', 'is a visa required'],
    ['Optional modules', 'optional modules'],
    ['Do you have the required skills', 'do you have the required skills'],
    ['Cover letter (optional extra)', 'cover letter optional extra'],
    ['Non-required', 'non required'],
  ])('the word in %j is a part of the question', (text, expected) => {
    expect(normaliseLabel(text)).toBe(expected);
  });

  test.each([
    ['Phone number', 'Phone'],
    ['कि', 'की'],
    ['ı', 'i'],
    ['Over 18', 'Over 1'],
  ])('%j and %j stay different', (one, other) => {
    expect(normaliseLabel(one)).not.toBe(normaliseLabel(other));
  });

  test('a long hostile label takes no more than linear time', () => {
    const blanks = ' '.repeat(100_000);
    for (const text of [
      `(${blanks}`,
      `${'('.repeat(50_000)}${blanks}`,
      '* '.repeat(50_000),
      ' -'.repeat(50_000),
    ]) {
      expect(normaliseLabel(`${text}x`)).toBe('x');
    }
  }, 2_000);

  test('a normalised text is its own normalised form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = normaliseLabel(text);
        expect(normaliseLabel(once)).toBe(once);
        expect(once).not.toMatch(/^ | $| {2}/);
      }),
      { numRuns: 500 },
    );
  });

  test('case, width, surrounding characters and an asterisk make no difference', () => {
    const words = fc.array(fc.stringMatching(/^[a-z0-9]{1,8}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(words, fc.constantFrom(' ', '\u00a0', ' / ', '-', '_', '\t\n'), (list, gap) => {
        const plain = list.join(' ');
        expect(normaliseLabel(plain)).toBe(plain);
        expect(normaliseLabel(`${gap}${list.join(gap).toUpperCase()}${gap}*`)).toBe(plain);
      }),
    );
  });
});
