import { payloadMemberDepthMax } from '@svc/domain';
import { Type, type Static, type TSchema } from 'typebox';

/**
 * The schema of `applicantProfile` in `ats.application` (CONTRACT 10). The browser executor of a
 * node checks profiles with this schema, but the gateway does not.
 */

const textLengthMax = 1024;
const proseLengthMax = 100_000;
const itemsMax = 500;
const fileNameLengthMax = 255;

const optionalText = (description: string, maxLength = textLengthMax) =>
  Type.Optional(Type.String({ maxLength, description }));

function optionalList<Item extends TSchema>(items: Item, description: string) {
  return Type.Optional(Type.Array(items, { maxItems: itemsMax, description }));
}

const Basics = Type.Object({
  name: optionalText(
    'The full name. It is split at its last space if `givenName` and `familyName` are absent.',
  ),
  givenName: optionalText('The first name or names.'),
  familyName: optionalText('The last name or names.'),
  email: optionalText('The email address.'),
  phone: optionalText(
    'The phone number. It is entered as you write it. Prefer a notation such as `+49 30 901820`.',
  ),
  url: optionalText('The address of the personal website.'),
  website: optionalText('The name of `url` in JSON Resume 0.x. Read if `url` is absent.'),
  summary: optionalText('A text about the applicant.', proseLengthMax),
  location: Type.Optional(
    Type.Object({
      address: optionalText('Street and number.'),
      postalCode: optionalText('The postal code.'),
      city: optionalText('The city.'),
      region: optionalText('The state, province or region.'),
      countryCode: optionalText(
        'The country as ISO 3166-1 alpha-2: `DE`. Its name is read, too, as in JSON Resume 0.x.',
      ),
    }),
  ),
  profiles: optionalList(
    Type.Object({
      network: optionalText('`LinkedIn`, `GitHub`, `X` or `Twitter`.'),
      username: optionalText(
        'The user name. It is not entered in a form, and no URL is made from it.',
      ),
      url: optionalText('The address of the profile.'),
    }),
    'Profiles on networks. `url` is entered in the form. The node finds the network by the name in `network`, or otherwise by the host of `url`.',
  ),
});

const Work = Type.Object({
  name: optionalText('The company.'),
  company: optionalText('The name of `name` in JSON Resume 0.x. Read if `name` is absent.'),
  position: optionalText('The job title.'),
  startDate: optionalText('The start, such as `2021-04-01`, `2021-04` or `2021`.'),
  endDate: optionalText('The end. Absent, empty or `Present` for the current position.'),
});

const Education = Type.Object({
  institution: optionalText('The school.'),
  studyType: optionalText('The degree.'),
  area: optionalText('The field of study.'),
  startDate: optionalText('The start, in the same form as in `work`.'),
  endDate: optionalText('The end, in the same form as in `work`.'),
});

/**
 * A string or a list of strings. This schema is not a union, because Ajv would report a violation
 * for each variant of a union.
 */
const textOrList = (description: string) =>
  Type.Unsafe<string | string[]>({
    type: ['string', 'array'],
    maxLength: proseLengthMax,
    items: { type: 'string', maxLength: proseLengthMax },
    maxItems: itemsMax,
    description,
  });

const Answer = Type.Object({
  question: Type.String({
    minLength: 1,
    maxLength: proseLengthMax,
    description: 'The label of the field as the page shows it.',
  }),
  answer: textOrList(
    'A text, the label of an option, an array of labels of options, or a date as `YYYY-MM-DD`. A field with an empty answer counts as not answered.',
  ),
});

const Eeo = Type.Object({
  gender: Type.Optional(
    textOrList('The answer to the question on gender: the label of an option.'),
  ),
  race: Type.Optional(
    textOrList(
      'The answer to the question on race: the label of an option, or an array of labels.',
    ),
  ),
  veteran: Type.Optional(
    textOrList('The answer to the question on veteran status: the label of an option.'),
  ),
  disability: Type.Optional(
    textOrList('The answer to the question on disability: the label of an option.'),
  ),
});

const File = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: fileNameLengthMax,
      pattern: '^(?!\\.{1,2}$)[^/\\\\]+$',
      description: 'The name that the site sees, without a path: `resume.pdf`.',
    }),
    contentType: Type.String({
      maxLength: 127,
      pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
      description: 'The media type, such as `application/pdf`.',
    }),
    base64: Type.Optional(
      Type.String({
        minLength: 1,
        contentEncoding: 'base64',
        description: 'The content of the file. The whole request may have at most 256 KiB.',
      }),
    ),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'An http or https URL of the file, on a public host. The file may have at most 25 MiB.',
      }),
    ),
    sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9A-Fa-f]{64}$',
        description: 'The SHA-256 of the file at `url`, in hex.',
      }),
    ),
  },
  {
    oneOf: [
      { properties: { base64: true }, required: ['base64'] },
      { properties: { url: true }, required: ['url'] },
    ],
    dependentRequired: { url: ['sha256'] },
    description: 'A file as `base64`, or as `url` with `sha256`.',
  },
);

export const ApplicantProfile = Type.Object({
  basics: Type.Optional(Basics),
  work: optionalList(
    Work,
    'Positions. The current position fills the fields for company and job title.',
  ),
  education: optionalList(
    Education,
    'Schools and degrees. The entry that ends last fills the fields for school, degree and field of study.',
  ),
  coverLetter: optionalText('The cover letter as text.', proseLengthMax),
  answers: optionalList(
    Answer,
    'Answers to the questions of the form. For a question that is listed here, no other member of the profile is used. Fields for files are filled only from `files`.',
  ),
  eeo: Type.Optional(Eeo),
  consents: optionalList(
    Type.String({ minLength: 1, maxLength: proseLengthMax }),
    'The labels of the checkboxes that the applicant agrees to, as the page shows them.',
  ),
  files: Type.Optional(
    Type.Object({ resume: Type.Optional(File), coverLetter: Type.Optional(File) }),
  ),
});
export type ApplicantProfile = Static<typeof ApplicantProfile>;
export type ApplicantFile = Static<typeof File>;

export const applicantProfileSchemaPath = '/schemas/ats-application-profile.json';

/** The schema contains no `$ref`, so a validator needs only this document. */
export function applicantProfileSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'applicantProfile of ats.application',
    description: `A JSON Resume 1.x with additional members. The whole document may nest at most ${payloadMemberDepthMax} levels deep. Members that are not listed here have no effect.`,
    ...ApplicantProfile,
  };
}
