import type { ApplicantProfile as ProfileDocument } from '@svc/contracts';
import { codeAndNamesOf } from './countries.ts';
import type { FieldRole } from './form-model.ts';
import { normaliseLabel } from './label.ts';

type Basics = NonNullable<ProfileDocument['basics']>;
type Location = NonNullable<Basics['location']>;
type Period = { readonly startDate?: string; readonly endDate?: string };
type Texts = readonly (string | undefined)[];

/**
 * The profile's texts for the standard fields, without `eeo` and `files`. The first text of a field
 * is preferred, and further texts are other spellings of it.
 */
export function standardTexts(
  document: ProfileDocument,
): ReadonlyMap<FieldRole, readonly string[]> {
  const { basics = {}, work = [], education = [], coverLetter } = document;
  const { location = {} } = basics;
  const name = nameOf(basics);
  const position = latest(work.filter(isCurrent));
  const schooling = latest(education);
  const all: readonly (readonly [FieldRole, Texts])[] = [
    ['givenName', [name.given]],
    ['familyName', [name.family]],
    ['fullName', [name.full]],
    ['email', [basics.email]],
    ['phone', [basics.phone]],
    ['streetAddress', [location.address]],
    ['postalCode', [location.postalCode]],
    ['city', [location.city]],
    ['region', [location.region]],
    ['country', countryForms(location)],
    ['location', locationForms(location)],
    ['company', [present(position?.name) ?? position?.company]],
    ['jobTitle', [position?.position]],
    ['school', [schooling?.institution]],
    ['degree', [schooling?.studyType]],
    ['discipline', [schooling?.area]],
    ['website', [present(basics.url) ?? basics.website]],
    ['linkedin', [profileUrl(basics, ['linkedin'], ['linkedin.com'])]],
    ['github', [profileUrl(basics, ['github'], ['github.com'])]],
    ['twitter', [profileUrl(basics, twitterNames, ['twitter.com', 'x.com'])]],
    ['summary', [basics.summary]],
    ['coverLetterText', [coverLetter]],
  ];
  return new Map(
    all.map(([role, texts]) => [role, texts.filter((text) => text !== undefined)] as const),
  );
}

interface Name {
  readonly given: string | undefined;
  readonly family: string | undefined;
  readonly full: string | undefined;
}

/**
 * The whole name and its two parts. The whole name is split only if the profile has neither part
 * (CONTRACT 10).
 */
function nameOf(basics: Basics): Name {
  const given = present(basics.givenName);
  const family = present(basics.familyName);
  const full = present(basics.name);
  if (given === undefined && family === undefined) {
    const [, first, last] = /^(.+)\s+(\S+)$/su.exec(full ?? '') ?? [];
    return { given: first?.trim(), family: last, full };
  }
  const joined = given === undefined || family === undefined ? undefined : `${given} ${family}`;
  return { given, family, full: full ?? joined };
}

function present(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

/**
 * The spellings of a location. The first one is typed into a text field. A list may offer any of
 * them as an option. The result is empty if the location has no city.
 */
function locationForms({ city, region, countryCode }: Location): Texts {
  const [town, area, country] = [city, region, countryCode].map(present);
  if (town === undefined) return [];
  const forms = [[town, area, country], [town, area], [town, country], [town]].map((parts) =>
    parts.filter((part) => part !== undefined).join(', '),
  );
  return [...new Set(forms)];
}

/**
 * The country as the profile has it, then its code and its names in the languages of postings. Only
 * the text of the profile if it names no country.
 */
function countryForms({ countryCode }: Location): Texts {
  const country = present(countryCode);
  if (country === undefined) return [];
  return [...new Set([country, ...codeAndNamesOf(country)])];
}

const twitterNames = ['twitter', 'x', 'x twitter', 'twitter x', 'x formerly twitter'];

function profileUrl(
  { profiles = [] }: Basics,
  networks: readonly string[],
  hosts: readonly string[],
): string | undefined {
  const withUrl = profiles.filter(({ url }) => present(url) !== undefined);
  const named = withUrl.find(({ network = '' }) => networks.includes(normaliseLabel(network)));
  const found = named ?? withUrl.find(({ url = '' }) => isOnHost(url.trim(), hosts));
  return found?.url;
}

/**
 * True if the URL leads to one of the hosts, or to a host below one of them. The URL may lack its
 * scheme.
 */
function isOnHost(url: string, hosts: readonly string[]): boolean {
  const whole = /^https?:\/\//i.test(url) ? url : `https://${url}`;
  if (!URL.canParse(whole)) return false;
  const { hostname } = new URL(whole);
  return hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
}

function isCurrent({ endDate = '' }: Period): boolean {
  return ['', 'present'].includes(normaliseLabel(endDate));
}

/**
 * The period that ends last. Among periods with the same end, the one that begins last counts. The
 * first in the list wins a tie.
 */
function latest<Item extends Period>(periods: readonly Item[]): Item | undefined {
  const [first, ...others] = periods;
  return others.reduce<Item | undefined>(
    (best, one) => (best === undefined || isLater(one, best) ? one : best),
    first,
  );
}

/**
 * A current period counts as ending in the year 9999. Dates are compared as text, which is correct
 * for ISO 8601.
 */
function isLater(one: Period, other: Period): boolean {
  const [end, otherEnd] = [one, other].map((period) =>
    isCurrent(period) ? '9999' : (period.endDate ?? ''),
  );
  if (end !== otherEnd) return (end ?? '') > (otherEnd ?? '');
  return (one.startDate ?? '') > (other.startDate ?? '');
}
