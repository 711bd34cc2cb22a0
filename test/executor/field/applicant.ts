const resumeName = 'maya-okafor.pdf';

/** The only resume of the applicant. An employer that has a place for it must receive it. */
export const resume = {
  name: resumeName,
  contentType: 'application/pdf',
  base64: Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n').toString('base64'),
};

export const applicant = {
  basics: {
    name: 'Maya Okafor',
    givenName: 'Maya',
    familyName: 'Okafor',
    email: 'maya.okafor@mail.example',
    phone: '+1 415 555 0142',
    url: 'https://maya.example',
    location: {
      address: '12 Elm Street',
      postalCode: '94607',
      city: 'Oakland',
      region: 'California',
      countryCode: 'US',
    },
    profiles: [{ network: 'LinkedIn', url: 'https://www.linkedin.com/in/maya-okafor-example' }],
  },
  files: { resume },
};

type Answer = string | readonly string[];

/** The `answers` of a profile (CONTRACT 10, "Input"). */
export function answers(byQuestion: Readonly<Record<string, Answer>>): {
  readonly answers: readonly { readonly question: string; readonly answer: Answer }[];
} {
  return {
    answers: Object.entries(byQuestion).map(([question, answer]) => ({ question, answer })),
  };
}
