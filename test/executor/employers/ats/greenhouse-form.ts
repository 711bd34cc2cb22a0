import { consentLabel } from '../applicant.ts';
import {
  disabilityLabels,
  genderLabels,
  languageLabels,
  locationLabels,
  numbered,
  optional,
  required,
  sourceLabels,
  veteranLabels,
  type Field,
} from '../fields.ts';
import { escapeHtml } from '../pages/html.ts';

const question = (n: number): string => `question_${4_000_100 + n}`;

/** The fields of the new Greenhouse board. The name of a field is also the `id` of its widget. */
export const greenhouseFields: readonly Field[] = [
  required('first_name', 'givenName', 'First Name', 'text'),
  required('last_name', 'familyName', 'Last Name', 'text'),
  required('email', 'email', 'Email', 'text'),
  optional('country', 'country', 'Country', 'combobox', {
    options: numbered(1, 'Iceland +354', 'Ireland +353', 'Israel +972'),
  }),
  required('phone', 'phone', 'Phone', 'text'),
  required('candidate-location', 'location', 'Location (City)', 'search', {
    options: numbered(700, ...locationLabels),
  }),
  required('resume', 'resume', 'Resume/CV', 'file'),
  optional('cover_letter', 'coverLetter', 'Cover Letter', 'file'),
  optional(question(1), 'linkedin', 'LinkedIn Profile', 'text'),
  required(
    question(2),
    'authorised',
    'Are you legally authorized to work in Ireland?',
    'combobox',
    {
      options: [
        { label: 'Yes', value: '1' },
        { label: 'No', value: '0' },
      ],
    },
  ),
  required(question(3), 'source', 'How did you hear about this job?', 'combobox', {
    options: numbered(9_001, ...sourceLabels),
  }),
  required(`${question(4)}[]`, 'languages', 'Which languages do you speak?', 'checkboxes', {
    options: numbered(9_101, ...languageLabels),
    isMultiple: true,
  }),
  required(question(5), 'motivation', 'Why do you want to work here?', 'textarea'),
  required('gdpr_processing_consent_given_1', 'consent', consentLabel, 'checkbox', {
    options: numbered(1, consentLabel),
  }),
  optional('gender', 'gender', 'Gender', 'combobox', { options: numbered(1, ...genderLabels) }),
  optional('veteran_status', 'veteran', 'Veteran Status', 'combobox', {
    options: numbered(1, ...veteranLabels),
  }),
  optional('disability_status', 'disability', 'Disability Status', 'combobox', {
    options: numbered(1, ...disabilityLabels),
  }),
];

function labelHtml({ name, label, isRequired }: Field): string {
  const star = isRequired ? '<span aria-hidden="true" class="required">*</span>' : '';
  return `<label id="${name}-label" for="${name}" class="label">${escapeHtml(label)}${star}</label>`;
}

function comboboxHtml(field: Field): string {
  const { name, isRequired } = field;
  const hidden = isRequired
    ? '<input class="required-input" required tabindex="-1" aria-hidden="true" value="" style="opacity:0;position:absolute;width:1px">'
    : '';
  return `<div class="field-wrapper"><div class="select"><div class="select__container">${labelHtml(field)}
<div class="select-shell"><span id="react-select-${name}-live-region" class="visually-hidden"></span><div class="select__control"><div class="select__value-container"><div class="select__placeholder" id="react-select-${name}-placeholder">Select...</div><div class="select__input-container"><input class="select__input" id="${name}" type="text" role="combobox" autocomplete="off" autocapitalize="none" spellcheck="false" aria-autocomplete="list" aria-expanded="false" aria-haspopup="true" aria-invalid="false" aria-labelledby="${name}-label" aria-required="${isRequired}"></div></div><div class="select__indicators"><button type="button" class="icon-button" aria-label="Toggle flyout" tabindex="-1">&#9662;</button></div></div>${hidden}</div></div></div></div>`;
}

function fileHtml({ name, label, isRequired }: Field): string {
  const star = isRequired ? '<span class="required">*</span>' : '';
  return `<div class="field-wrapper"><div class="file-upload" role="group" aria-labelledby="upload-label-${name}"><div id="upload-label-${name}" class="label upload-label">${escapeHtml(label)}${star}</div>
<div class="file-upload__wrapper"><div class="button-container"><div class="secondary-button"><button type="button" class="btn btn--pill" onclick="document.getElementById('${name}').click()">Attach</button></div><label class="visually-hidden" for="${name}">Attach</label><input id="${name}" class="visually-hidden" type="file" accept=".pdf,.doc,.docx,.txt,.rtf" tabindex="-1"><div class="secondary-button"><button type="button" class="btn btn--pill">Enter manually</button></div></div><p id="${name}-upload"></p><p class="help-text">Accepted file types: pdf, doc, docx, txt, rtf</p></div></div></div>`;
}

function choicesHtml({ name, label, isRequired, options = [] }: Field): string {
  const star = isRequired ? '<span class="required">*</span>' : '';
  const boxes = options.map(
    (option) =>
      `<div class="checkbox__wrapper"><div class="checkbox__input"><input type="checkbox" id="${name}_${option.value}" name="${name}" value="${option.value}"></div><label for="${name}_${option.value}">${escapeHtml(option.label)}</label></div>`,
  );
  return `<fieldset class="field-wrapper checkbox" id="${name}" aria-required="${isRequired}"><legend class="label checkbox__description">${escapeHtml(label)}${star}</legend>${boxes.join('')}</fieldset>`;
}

export function greenhouseWidget(field: Field): string {
  const { name, label, control, isRequired, options = [] } = field;
  switch (control) {
    case 'combobox':
    case 'search':
      return comboboxHtml(field);
    case 'file':
      return fileHtml(field);
    case 'checkboxes':
      return choicesHtml(field);
    case 'checkbox':
      return `<div class="field-wrapper checkbox"><div class="checkbox__wrapper"><div class="checkbox__input"><input type="checkbox" id="${name}" name="${name}" value="${options[0]?.value ?? '1'}" aria-required="${isRequired}"></div><label for="${name}">${escapeHtml(label)}<span class="required">*</span></label></div></div>`;
    case 'textarea':
      return `<div class="field-wrapper"><div class="text-input-wrapper"><div class="input-wrapper">${labelHtml(field)}<textarea id="${name}" class="input input__multi-line" aria-label="${escapeHtml(label)}" aria-required="${isRequired}" rows="4"></textarea></div></div></div>`;
    case 'text':
    case 'select':
    case 'radio':
    case 'date': {
      const type = name === 'phone' ? 'tel' : 'text';
      const tokens: Record<string, string> = {
        first_name: 'given-name',
        last_name: 'family-name',
        email: 'email',
        phone: 'tel',
      };
      const autocomplete = name in tokens ? ` autocomplete="${tokens[name]}"` : '';
      return `<div class="field-wrapper"><div class="text-input-wrapper"><div class="input-wrapper">${labelHtml(field)}<input id="${name}" class="input input__single-line" type="${type}" aria-label="${escapeHtml(label)}" aria-describedby="${name}-error" aria-invalid="false" aria-required="${isRequired}" maxlength="255" value=""${autocomplete}></div></div></div>`;
    }
  }
}
