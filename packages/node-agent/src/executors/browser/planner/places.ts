import { countryOf } from './countries.ts';
import type { Place } from './form-model.ts';
import { normaliseLabel } from './label.ts';

/** States and provinces whose code and name both stand in addresses: `CODE Name`. */
const regions = [
  'AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut',
  'DE Delaware,DC District of Columbia,FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois',
  'IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine,MD Maryland,MA Massachusetts',
  'MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska,NV Nevada',
  'NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,ND North Dakota',
  'OH Ohio,OK Oklahoma,OR Oregon,PA Pennsylvania,RI Rhode Island,SC South Carolina',
  'SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,WA Washington',
  'WV West Virginia,WI Wisconsin,WY Wyoming',
  'AB Alberta,BC British Columbia,MB Manitoba,NB New Brunswick,NL Newfoundland and Labrador',
  'NS Nova Scotia,NT Northwest Territories,NU Nunavut,ON Ontario,PE Prince Edward Island',
  'QC Quebec,SK Saskatchewan,YT Yukon',
  'NSW New South Wales,VIC Victoria,QLD Queensland,TAS Tasmania',
]
  .flatMap((line) => line.split(','))
  .map((entry) => [entry.slice(0, entry.indexOf(' ')), entry.slice(entry.indexOf(' ') + 1)]);

/** The region as given, and its code or its name. */
function regionForms(region: string): string[] {
  const wanted = normaliseLabel(region);
  const same = regions.find((forms) => forms.some((form) => normaliseLabel(form) === wanted));
  return [...new Set([region, ...(same ?? [])])];
}

/**
 * True if each part of the option equals another part of the place, and one of them is the city
 * (CONTRACT 10).
 */
export function isAtPlace(option: string, place: Place): boolean {
  const { city, region, country, postalCode } = place;
  if (city === undefined) return false;
  const own = countryOf(country ?? '');
  const tests: ((part: string) => boolean)[] = [
    (part) => isSame(part, city),
    (part) => region !== undefined && regionForms(region).some((form) => isSame(part, form)),
    (part) => own !== undefined && countryOf(part) === own,
    (part) => postalCode !== undefined && isSame(part, postalCode),
  ];
  const parts = option.split(/[,()/]| [-–—|] /u).filter((part) => normaliseLabel(part) !== '');
  const free = new Set(tests);
  for (const part of parts) {
    const test = [...free].find((one) => one(part));
    if (test === undefined) return false;
    free.delete(test);
  }
  return tests[0] !== undefined && !free.has(tests[0]);
}

function isSame(one: string, other: string): boolean {
  return normaliseLabel(one) === normaliseLabel(other);
}
