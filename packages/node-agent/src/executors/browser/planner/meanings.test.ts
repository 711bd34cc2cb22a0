import { expect, test } from 'vitest';
import { countryOf, countryOfOption } from './countries.ts';
import { datePartOption, dateText } from './dates.ts';
import { numberIn } from './numbers.ts';
import { isAtPlace } from './places.ts';

test.each([
  ['120,000', '120000'],
  ['120.000', '120000'],
  ["120'000 CHF", '120000'],
  ['€ 1 200,50', '1200.5'],
  ['007', '7'],
  ['7+', undefined],
  ['5-7', undefined],
  ['1,5,0', undefined],
  ['12,00,000', undefined],
  ['seven', undefined],
])('the number in %j is %j', (text, number) => {
  expect(numberIn(text)).toBe(number);
});

test.each([
  ['dd.mm.yyyy', '01.02.2027'],
  ['d/m/yy', '1/2/27'],
  ['yyyy-mm-dd', '2027-02-01'],
  ['mm/yyyy', '02/2027'],
])('a date in the format %s is %s', (format, text) => {
  expect(dateText('2027-02-01', format)).toBe(text);
});

test.each([
  [['January', 'February', 'March'], 'February'],
  [['Januar', 'Februar', 'März'], 'Februar'],
  [['styczeń', 'luty', 'marzec'], 'luty'],
  [['01', '02', '03'], '02'],
  [['01 - Jan', '02 - Feb'], '02 - Feb'],
  [['janv.', 'févr.', 'mars'], 'févr.'],
])('the second month of %j is %s', (options, month) => {
  expect(datePartOption({ options }, '2027-02-01', 'month')).toBe(month);
});

test.each([
  ['Deutschland', 'DE'],
  ['Stany Zjednoczone', 'US'],
  ['Czech Republic', 'CZ'],
  ['Sverige', 'SE'],
  ['Atlantis', undefined],
])('%s is the country %s', (name, code) => {
  expect(countryOf(name)).toBe(code);
});

test.each([
  ['United States (+1)', 'US'],
  ['🇩🇪 Germany +49', 'DE'],
  ['IE - Ireland', 'IE'],
  ['Germany or Austria', undefined],
  ['+1', undefined],
])('the option %s names the country %s', (option, code) => {
  expect(countryOfOption(option)).toBe(code);
});

const oakland = { city: 'Oakland', region: 'California', country: 'US', postalCode: '94607' };
test.each([
  ['Oakland, CA, United States', true],
  ['Oakland, California', true],
  ['Oakland (94607), USA', true],
  ['Oakland, CA, Vereinigte Staaten', true],
  ['Oakland, Alameda County, CA', false],
  ['Oakland, Oakland, CA', false],
  ['California, United States', false],
  ['Oakland Park, CA', false],
])('that %s is the place of the profile is %s', (option, isSame) => {
  expect(isAtPlace(option, oakland)).toBe(isSame);
});
