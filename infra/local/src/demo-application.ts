import type { AtsApplicationPayload } from '@svc/client';
import { employerFormUrl } from './demo-employer/employer.ts';
import { company, jobTitle } from './demo-employer/pages.ts';

const resume = `Ada Lovelace
London, ada@example.com

1842  Notes on the Analytical Engine, with the first published program
1833  Studies with Charles Babbage
`;

export const simulatedApplication: AtsApplicationPayload = {
  applicationUrl: 'https://careers.example.com/jobs/4711/apply',
  atsType: 'sandbox.succeed',
  applicantProfile: { name: 'Ada Lovelace', email: 'ada@example.com' },
  jobContext: { title: 'Analyst', company: 'Example Engines' },
};

/**
 * The demo's application for a node with a browser. It answers every field of the demo employer's
 * form (CONTRACT 10).
 */
export const browserApplication: AtsApplicationPayload = {
  applicationUrl: employerFormUrl,
  atsType: 'generic',
  applicantProfile: {
    basics: {
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      phone: '+44 20 7946 0958',
      url: 'https://ada.example.com/',
    },
    coverLetter:
      'Dear Example Engines,\n\nYour engine can do more than numbers. I would like to show you how.\n\nAda Lovelace',
    answers: [
      { question: 'Where would you like to work?', answer: 'London' },
      { question: 'Are you allowed to work in this country?', answer: 'Yes' },
      { question: 'When can you start?', answer: '2027-01-04' },
    ],
    consents: ['I agree that Example Engines keeps my application for six months'],
    files: {
      resume: {
        name: 'ada-lovelace.txt',
        contentType: 'text/plain',
        base64: Buffer.from(resume).toString('base64'),
      },
    },
  },
  jobContext: { title: jobTitle, company },
};
