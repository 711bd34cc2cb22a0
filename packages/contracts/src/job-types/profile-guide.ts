/**
 * The tenants' guide to `applicantProfile` (CONTRACT 10). Tests check the examples and the error
 * messages of the guide against the code of the node.
 */

export const profileGuidePath = '/docs/applicant-profile';

export interface ProfileExample {
  readonly title: string;
  readonly text: string;
  readonly profile: object;
}

const person = {
  name: 'Ana Pérez',
  email: 'ana@example.com',
  phone: '+34 910 000 000',
};

export const profileExamples: readonly ProfileExample[] = [
  {
    title: 'A short profile',
    text: 'If the form asks for the parts of the name, the name is split at its last space. The profile contains the resume as `base64`.',
    profile: {
      basics: person,
      files: {
        resume: {
          name: 'ana-perez.txt',
          contentType: 'text/plain',
          base64: 'QW5hIFDDqXJleiwgd2VsZGVyLgo=',
        },
      },
    },
  },
  {
    title: 'Answers to the questions of a form',
    text: 'Copy each question and each option as the page shows it. An array answers a question that takes several options, and a date is `YYYY-MM-DD`.',
    profile: {
      basics: person,
      answers: [
        { question: 'Are you authorized to work in Spain?', answer: 'Yes' },
        { question: 'Which welding methods do you know?', answer: ['MIG', 'TIG'] },
        { question: 'When can you start?', answer: '2027-02-01' },
        { question: 'Why do you want to work here?', answer: 'I like large ships.' },
      ],
      consents: ['I have read the privacy policy.'],
    },
  },
  {
    title: 'A complete profile',
    text: 'The node fetches the resume from `url`, and the file must match `sha256`. The answers in `eeo` are voluntary: leave out those that the applicant did not give.',
    profile: {
      basics: {
        name: 'Ana Pérez García',
        givenName: 'Ana',
        familyName: 'Pérez García',
        email: 'ana@example.com',
        phone: '+34 910 000 000',
        url: 'https://ana.example.com',
        summary: 'Welder with seven years of work on ships.',
        location: {
          address: 'Calle Mayor 1',
          postalCode: '11001',
          city: 'Cádiz',
          region: 'Andalucía',
          countryCode: 'ES',
        },
        profiles: [
          { network: 'LinkedIn', username: 'ana', url: 'https://www.linkedin.com/in/ana' },
          { network: 'GitHub', username: 'ana', url: 'https://github.com/ana' },
        ],
      },
      work: [
        { name: 'Example Yards', position: 'Welder', startDate: '2021-03' },
        { name: 'Sample Steel', position: 'Apprentice', startDate: '2018', endDate: '2021-02' },
      ],
      education: [
        { institution: 'IES Example', studyType: 'Diploma', area: 'Metalwork', endDate: '2018-06' },
      ],
      coverLetter: 'Dear team,\n\nI would like to join you.\n\nAna',
      answers: [{ question: 'How did you hear about us?', answer: 'A friend' }],
      eeo: { gender: 'Female', veteran: 'I am not a protected veteran' },
      consents: ['I have read the privacy policy.'],
      files: {
        resume: {
          name: 'ana-perez.pdf',
          contentType: 'application/pdf',
          url: 'https://files.example.com/ana-perez.pdf',
          sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        },
      },
    },
  },
];

export interface ProfileMistake {
  /** The `message` of a failure with the code `invalid_payload`. */
  readonly message: string;
  readonly remedy: string;
}

export const profileMistakes: readonly ProfileMistake[] = [
  {
    message:
      'The profile does not answer these required fields: “Phone” (basics.phone), “Do you need a visa?”.',
    remedy:
      'If the message names a member in parentheses after a field, set this member. You can also answer any field that takes no file: add its label and your answer to `answers`. An answer to a choice must equal the label of an option, a text must fit into its field, and a date is `YYYY-MM-DD`. For a lone checkbox, add its label to `consents`, and remove any answer to it.',
  },
  {
    message: 'The page refused the values of these fields: “Phone”.',
    remedy:
      'Open the page, see what it accepts, and correct the values. For a field that takes a file, try the type `application/pdf`, which most pages accept.',
  },
  {
    message: 'basics.email must be a string.',
    remedy: 'Correct the type of the member. The JSON Schema finds such mistakes before you send.',
  },
  {
    message: 'answers[0].answer must be a string or an array.',
    remedy: 'Use the label of the option, such as `"Yes"`, instead of `true` or `false`.',
  },
  {
    message: 'answers[1] repeats a question with a different answer.',
    remedy:
      'Remove one of the two answers. Two questions count as the same if they differ only in case, punctuation or marks such as `*` or `(required)`.',
  },
  {
    message: 'answers[0].question must have a letter or a digit.',
    remedy:
      'Use the label of the field. `answers` cannot fill in a field whose label has no letter or digit.',
  },
  {
    message: 'basics.name appears twice.',
    remedy: 'Write each member of an object once.',
  },
  {
    message: 'basics.summary must have no control characters except tabs and line breaks.',
    remedy: 'Remove the control characters.',
  },
  {
    message: 'files.resume must have either base64, or url with sha256.',
    remedy: 'Send the file itself, or its address and its SHA-256.',
  },
  {
    message: 'files.resume.base64 must be padded base64 without line breaks and without a prefix.',
    remedy:
      'Encode the file as base64 with its padding (`=`). Remove a prefix such as `data:application/pdf;base64,` and all line breaks.',
  },
  {
    message: 'files.resume cannot be fetched from its url.',
    remedy:
      'Until the job ends, the URL must answer 200 without authentication, after at most five redirects. The URL, and each URL that it redirects to, must have a public host and port 80 or 443.',
  },
  {
    message: 'files.resume is larger than 25 MiB.',
    remedy: 'Make the file smaller. Many sites have a lower limit.',
  },
  {
    message: 'files.resume does not match its sha256.',
    remedy: 'Compute the SHA-256 of the file at `url`, and write it as 64 hexadecimal digits.',
  },
];

export const profileFieldKinds: readonly { readonly field: string; readonly answer: string }[] = [
  {
    field: 'text',
    answer:
      'A text, or an array of one text. A text is not entered if it is longer than the field allows, or if it has line breaks and the field has only one line.',
  },
  {
    field: 'select, combobox, radio',
    answer: 'The label of one option, such as `"Yes"`. The value `true` is not a label.',
  },
  {
    field: 'group of checkboxes, select that allows several options',
    answer:
      'An array of labels. If the options of the field lack one of these labels, the field is not answered. Some lists show their options only when they are open. In such a list the node chooses your labels one after another. If the list has the first label but lacks a later one, the job fails with `invalid_payload`.',
  },
  {
    field: 'lone checkbox',
    answer:
      'The label of the checkbox, in `consents`, or as both `question` and `answer` of an entry of `answers`.',
  },
  { field: 'date', answer: '`YYYY-MM-DD`, a day that exists. Other notations are not converted.' },
  {
    field: 'file',
    answer: '`files.resume` or `files.coverLetter`. Other files cannot be attached.',
  },
];

export const profileRules: readonly string[] = [
  'If the `question` of an entry of `answers` equals the label of the field, the `answer` of this entry is used. If it is empty, the field counts as not answered, even if the profile has a value for the field.',
  'Otherwise a standard field is filled from its member of the profile. The node finds a standard field by its label (see “Standard fields”) or by the HTML attribute `autocomplete`. On the hosted forms of Greenhouse, Lever, Ashby and Workable, it also uses identifiers in the HTML, such as `id` and `name`.',
  'A lone checkbox is checked only if its label is in `consents`, or if an entry of `answers` has this label as both `question` and `answer`.',
  '`files.resume` is attached to the field for the resume, and `files.coverLetter` to the field for the cover letter.',
  'Labels, questions and options match if they are equal after normalisation. Normalisation applies NFKC, ignores case, drops marks such as `*` or `(required)`, and turns each run of characters other than letters and digits into one blank. A part of a label never matches. Two fields with equal labels get the same answer.',
  'Nothing is guessed. The first option is not chosen by default, no answer about gender, race, veteran status or disability is inferred, no consent is assumed, and no text is cut. If several options are equal after normalisation, only the one that is written exactly like the answer is chosen.',
  'The node unchecks a lone checkbox, or each checkbox of a group, if the field is not answered. Any other field that is not answered keeps what the page has set. If a required field is not answered, the form is not submitted. The submission then fails with `invalid_payload`, or with `form_unsupported` if the node cannot fill in this kind of field.',
  'Company and job title come from the current entry of `work`: its `endDate` is absent, empty or `Present`. If several entries are current, the one with the latest `startDate` is used, or the first of these if the dates are equal. School, degree and field of study come from the entry of `education` that ends last.',
  'A location is entered as one text: city, region and country code. A missing region or country code is left out. Without a city, no location is entered. In a list of places, the option that equals the whole text is chosen. If there is none, the node tries city and region, then city and country code, then only the city.',
  'A number is entered with the digits that you sent. A member that is null counts as absent.',
];
