import { consentLabel } from '../applicant.ts';
import {
  genderLabels,
  labelled,
  languageLabels,
  locationLabels,
  optional,
  required,
  sourceLabels,
  veteranLabels,
  type Field,
} from '../fields.ts';
import { escapeHtml } from '../pages/html.ts';

const uuid = (n: number): string =>
  `5b7c3a10-4e2d-4f6a-9c8b-${(0xa0 + n).toString(16).padStart(12, '0')}`;

/**
 * The questions of Ashby. The `name` of a field is its `data-field-path`. The input of a text field
 * has the `name` as its `id` too.
 */
export const ashbyFields: readonly Field[] = [
  required('_systemfield_name', 'fullName', 'Name', 'text'),
  required('_systemfield_email', 'email', 'Email', 'text'),
  required('_systemfield_resume', 'resume', 'Resume', 'file'),
  required('_systemfield_location', 'location', 'Location (City)', 'search', {
    options: labelled(...locationLabels),
  }),
  optional(uuid(1), 'phone', 'Phone Number', 'text'),
  optional(uuid(2), 'linkedin', 'LinkedIn Profile', 'text'),
  /** Ashby shows this question as two buttons, Yes and No. */
  required(uuid(3), 'authorised', 'Are you legally authorized to work in Ireland?', 'select', {
    options: labelled('Yes', 'No'),
  }),
  required(uuid(4), 'source', 'How did you hear about this job?', 'radio', {
    options: labelled(...sourceLabels),
  }),
  required(uuid(5), 'languages', 'Which languages do you speak?', 'checkboxes', {
    options: labelled(...languageLabels),
    isMultiple: true,
  }),
  required(uuid(6), 'motivation', 'Why do you want to work here?', 'textarea'),
  required(uuid(7), 'consent', consentLabel, 'checkbox', { options: labelled(consentLabel) }),
  optional('_systemfield_eeoc_gender', 'gender', 'Gender', 'radio', {
    options: labelled(...genderLabels),
  }),
  optional('_systemfield_eeoc_veteran_status', 'veteran', 'Veteran Status', 'radio', {
    options: labelled(...veteranLabels),
  }),
];

function choicesHtml({ name, control, options = [] }: Field): string {
  const type = control === 'radio' ? 'radio' : 'checkbox';
  return options
    .map(
      ({ label, value }, index) =>
        `<div class="_option_"><span class="_container_"><input type="${type}" id="${name}-labeled-${type}-${index}" name="${name}" value="${escapeHtml(value)}"></span><label for="${name}-labeled-${type}-${index}">${escapeHtml(label)}</label></div>`,
    )
    .join('');
}

function widgetHtml(field: Field): string {
  const { name, control, isRequired } = field;
  const mark = isRequired ? ' required' : '';
  switch (control) {
    case 'search':
    case 'combobox':
      return `<div class="ashby-application-form-input-autocomplete"><input id="${name}" role="combobox" aria-autocomplete="list" aria-expanded="false" aria-haspopup="listbox" placeholder="Start typing..." autocomplete="off"${mark}><button type="button" class="_toggle_" aria-label="Toggle" tabindex="-1">&#9662;</button></div>`;
    case 'file':
      return `<div class="_fileUpload_"><input type="file" id="${name}" tabindex="-1" style="display:none"${mark}><button type="button" class="_button_" data-upload="${name}">Upload File</button><p id="${name}-upload"></p></div>`;
    case 'select':
      return `<div class="_yesno_"><button type="button" class="_option_" aria-pressed="false">Yes</button><button type="button" class="_option_" aria-pressed="false">No</button><input type="checkbox" tabindex="-1" name="${name}" style="display:none"></div>`;
    case 'textarea':
      return `<textarea id="${name}" name="${name}" placeholder="Type here..."${mark}></textarea>`;
    case 'text':
    case 'date':
    case 'radio':
    case 'checkboxes':
    case 'checkbox':
      return `<input id="${name}" name="${name}" type="${name === '_systemfield_email' ? 'email' : 'text'}" placeholder="Type here..." value=""${mark}>`;
  }
}

/**
 * The markup of one question and its control. The markup of a required question contains no star,
 * because a style sheet draws the star.
 */
export function ashbyEntry(field: Field): string {
  const { name, label, control, isRequired } = field;
  const title = `ashby-application-form-question-title _heading_${isRequired ? ' _required_' : ''}`;
  const entry = `class="_fieldEntry_ ashby-application-form-field-entry" data-field-path="${name}"`;
  if (control === 'radio' || control === 'checkboxes') {
    return `<fieldset ${entry}><label class="${title}" for="${name}">${escapeHtml(label)}</label>${choicesHtml(field)}</fieldset>`;
  }
  if (control === 'checkbox') {
    return `<div ${entry}><div class="_option_"><input type="checkbox" id="${name}" name="${name}" value="${escapeHtml(label)}" required><label class="${title}" for="${name}">${escapeHtml(label)}</label></div></div>`;
  }
  return `<div ${entry}><label class="${title}" for="${name}">${escapeHtml(label)}</label>${widgetHtml(field)}</div>`;
}
