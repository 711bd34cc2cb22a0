/** The standard fields of application forms (CONTRACT 10). */

export interface StandardField {
  /**
   * The node looks up the role of a field in this order: in the adapter for the applicant tracking
   * system (ATS), by `autocomplete`, by `labels`.
   */
  readonly role: string;
  /** The path of the field's member in `applicantProfile`. `[]` stands for an item of a list. */
  readonly member: string;
  /**
   * A field matches if its label on the page equals one of these labels. Both are normalised first.
   */
  readonly labels: readonly string[];
  readonly autocomplete: readonly string[];
}

export const standardFields = [
  {
    role: 'givenName',
    member: 'basics.givenName',
    labels: ['First name', 'Given name', 'Forename'],
    autocomplete: ['given-name'],
  },
  {
    role: 'familyName',
    member: 'basics.familyName',
    labels: ['Last name', 'Family name', 'Surname'],
    autocomplete: ['family-name'],
  },
  {
    role: 'fullName',
    member: 'basics.name',
    labels: ['Name', 'Full name', 'Your name', 'Your full name', 'First and last name'],
    autocomplete: ['name'],
  },
  {
    role: 'email',
    member: 'basics.email',
    labels: ['Email', 'E-mail', 'Email address', 'E-mail address', 'Your email'],
    autocomplete: ['email'],
  },
  {
    role: 'phone',
    member: 'basics.phone',
    labels: [
      'Phone',
      'Phone number',
      'Telephone',
      'Telephone number',
      'Mobile',
      'Mobile phone',
      'Mobile number',
      'Mobile phone number',
      'Cell phone',
      'Cell phone number',
    ],
    autocomplete: ['tel'],
  },
  {
    role: 'streetAddress',
    member: 'basics.location.address',
    labels: ['Address', 'Street address'],
    autocomplete: ['street-address'],
  },
  {
    role: 'postalCode',
    member: 'basics.location.postalCode',
    labels: ['Postal code', 'Postcode', 'ZIP', 'ZIP code', 'ZIP/Postal code'],
    autocomplete: ['postal-code'],
  },
  {
    role: 'city',
    member: 'basics.location.city',
    labels: ['City', 'Town', 'City/Town'],
    autocomplete: ['address-level2'],
  },
  {
    role: 'region',
    member: 'basics.location.region',
    labels: ['State', 'Province', 'State/Province', 'Region'],
    autocomplete: ['address-level1'],
  },
  {
    role: 'country',
    member: 'basics.location.countryCode',
    labels: ['Country', 'Country code'],
    autocomplete: ['country', 'country-name'],
  },
  {
    role: 'location',
    member: 'basics.location',
    labels: ['Location', 'Current location', 'Location (City)'],
    autocomplete: [],
  },
  {
    role: 'company',
    member: 'work[].name',
    labels: ['Company', 'Current company', 'Company name', 'Employer', 'Current employer'],
    autocomplete: ['organization'],
  },
  {
    role: 'jobTitle',
    member: 'work[].position',
    labels: ['Job title', 'Current job title', 'Current title', 'Current position'],
    autocomplete: ['organization-title'],
  },
  { role: 'school', member: 'education[].institution', labels: ['School'], autocomplete: [] },
  { role: 'degree', member: 'education[].studyType', labels: ['Degree'], autocomplete: [] },
  {
    role: 'discipline',
    member: 'education[].area',
    labels: ['Discipline', 'Field of study'],
    autocomplete: [],
  },
  {
    role: 'website',
    member: 'basics.url',
    labels: ['Website', 'Website URL', 'Personal website', 'Homepage'],
    autocomplete: ['url'],
  },
  {
    role: 'linkedin',
    member: 'basics.profiles[].url',
    labels: ['LinkedIn', 'LinkedIn URL', 'LinkedIn profile', 'LinkedIn profile URL'],
    autocomplete: [],
  },
  {
    role: 'github',
    member: 'basics.profiles[].url',
    labels: ['GitHub', 'GitHub URL', 'GitHub profile', 'GitHub profile URL'],
    autocomplete: [],
  },
  {
    role: 'twitter',
    member: 'basics.profiles[].url',
    labels: [
      'Twitter',
      'Twitter URL',
      'Twitter profile',
      'X',
      'X (Twitter)',
      'X (formerly Twitter)',
    ],
    autocomplete: [],
  },
  {
    role: 'summary',
    member: 'basics.summary',
    labels: ['Summary', 'Professional summary'],
    autocomplete: [],
  },
  { role: 'coverLetterText', member: 'coverLetter', labels: ['Cover letter'], autocomplete: [] },
  {
    role: 'coverLetterFile',
    member: 'files.coverLetter',
    labels: ['Cover letter'],
    autocomplete: [],
  },
  {
    role: 'resumeFile',
    member: 'files.resume',
    labels: ['Resume', 'Résumé', 'CV', 'Resume/CV', 'CV/Resume', 'Résumé/CV', 'Curriculum vitae'],
    autocomplete: [],
  },
  {
    role: 'gender',
    member: 'eeo.gender',
    labels: ['Gender', 'Gender identity'],
    autocomplete: ['sex'],
  },
  { role: 'race', member: 'eeo.race', labels: ['Race', 'Race/Ethnicity'], autocomplete: [] },
  {
    role: 'veteran',
    member: 'eeo.veteran',
    labels: ['Veteran status', 'Protected veteran status'],
    autocomplete: [],
  },
  {
    role: 'disability',
    member: 'eeo.disability',
    labels: ['Disability', 'Disability status'],
    autocomplete: [],
  },
] as const satisfies readonly StandardField[];
