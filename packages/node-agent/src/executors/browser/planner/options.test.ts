import { expect, test } from 'vitest';
import { chooseOptions } from './options.ts';

test('options without a letter or a digit are never chosen, not even by their own text', () => {
  expect(chooseOptions(['-', '…', ''], { labels: ['-'] })).toBeUndefined();
  expect(chooseOptions(['-'], { labels: [''] })).toBeUndefined();
});

test('an option that two labels of a value name is chosen once', () => {
  expect(chooseOptions(['Yes', 'No'], { labels: ['yes', 'YES!'] })).toEqual(['Yes']);
});

test('the first spelling that the page has is chosen if the label is not there', () => {
  const value = { labels: ['London, England, GB'], spellings: ['London, GB', 'London'] };
  expect(chooseOptions(['London', 'London GB'], value)).toEqual(['London GB']);
  expect(chooseOptions(['London, Ontario'], value)).toBeUndefined();
});

test('spellings belong to one label', () => {
  const value = { labels: ['Yes', 'Perhaps'], spellings: ['No'] };
  expect(chooseOptions(['Yes', 'No'], value)).toBeUndefined();
});
