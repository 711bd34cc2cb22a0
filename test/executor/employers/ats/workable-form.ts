import { consentLabel } from '../applicant.ts';
import {
  labelled,
  languageLabels,
  numbered,
  optional,
  required,
  sourceLabels,
  type Field,
} from '../fields.ts';
import { escapeHtml } from '../pages/html.ts';

/**
 * The questions of Workable. The `name` of a field is also the `data-ui` of its widget, and the
 * name of its answer in the application.
 */
export const workableFields: readonly Field[] = [
  required('firstname', 'givenName', 'First name', 'text'),
  required('lastname', 'familyName', 'Last name', 'text'),
  required('email', 'email', 'Email', 'text'),
  optional('phone', 'phone', 'Phone', 'text'),
  required('resume', 'resume', 'Resume', 'file'),
  required('QA_7493844', 'authorised', 'Are you legally authorized to work in Ireland?', 'radio', {
    options: [
      { label: 'Yes', value: 'true' },
      { label: 'No', value: 'false' },
    ],
  }),
  required('QA_7493845', 'source', 'How did you hear about this job?', 'combobox', {
    options: numbered(5_938_001, ...sourceLabels),
  }),
  required('QA_7493846', 'languages', 'Which languages do you speak?', 'checkboxes', {
    options: numbered(5_854_742, ...languageLabels),
    isMultiple: true,
  }),
  required('QA_7493847', 'motivation', 'Why do you want to work here?', 'textarea'),
  optional('QA_7493848', 'linkedin', 'LinkedIn profile', 'text'),
  required('gdpr', 'consent', consentLabel, 'checkbox', { options: labelled('true') }),
];

function labelHtml({ name, label, isRequired }: Field, forId: string): string {
  const star = isRequired ? '<strong>*</strong>' : '<span class="optional"> (Optional)</span>';
  return `<label for="${forId}"><span id="${name}_label">${escapeHtml(label)}</span>${star}</label>`;
}

function heading({ name, label, isRequired }: Field): string {
  return `<span id="${name}_label">${isRequired ? '* ' : ''}${escapeHtml(label)}</span>`;
}

const wrap = (html: string): string => `<div class="field" data-role="field">${html}</div>`;

/**
 * Returns a field as Workable shows it. The checkboxes of a group have different names. The labels
 * of checkboxes and radio buttons contain hidden text.
 */
export function workableWidget(field: Field): string {
  const { name, label, control, isRequired, options = [] } = field;
  const mark = isRequired ? ' required aria-required="true"' : '';
  const icon = '<span hidden>SVGs not supported by this browser.</span>';
  switch (control) {
    case 'radio':
      return wrap(
        `${heading(field)}<fieldset role="radiogroup" data-ui="${name}" aria-labelledby="${name}_label">${options
          .map(
            (option) =>
              `<label>${icon}<input type="radio" name="${name}" value="${option.value}"${mark}><span>${option.label.toUpperCase()}</span></label>`,
          )
          .join('')}</fieldset>`,
      );
    case 'checkboxes':
      return wrap(
        `${heading(field)}<div role="group" aria-labelledby="${name}_label" data-ui="${name}" data-group="${name}">${options
          .map(
            (option) =>
              `<label>${icon}<input type="checkbox" name="${option.value}" value="true"><span>${escapeHtml(option.label)}</span></label>`,
          )
          .join('')}</div>`,
      );
    case 'combobox':
    case 'search':
    case 'select':
      return wrap(
        `${heading(field)}<div data-ui="${name}" data-input-type="select" class="select"><input id="${name}" role="combobox" readonly aria-haspopup="listbox" aria-expanded="false" aria-labelledby="${name}_label" placeholder="Select an option" autocomplete="off" value=""${mark}></div>`,
      );
    case 'checkbox':
      return wrap(
        `<label>${icon}<input type="checkbox" name="${name}" data-ui="${name}" value="true"${mark}><span>${isRequired ? '* ' : ''}${escapeHtml(label)}</span></label>`,
      );
    case 'file':
      return wrap(
        `${heading(field)}<div data-role="dropzone"><label for="${name}">Upload a file or drag and drop here</label><input type="file" id="${name}" data-ui="${name}" class="visually-hidden" accept=".pdf,.doc,.docx" aria-labelledby="${name}_label"${mark}><p id="${name}-upload" data-id="filename"></p></div>`,
      );
    case 'textarea':
      return wrap(
        `${labelHtml(field, name)}<textarea id="${name}" name="${name}" data-ui="${name}"${mark}></textarea>`,
      );
    case 'text':
    case 'date': {
      const type = name === 'email' ? 'email' : name === 'phone' ? 'tel' : 'text';
      return wrap(
        `${labelHtml(field, name)}<input id="${name}" name="${name}" data-ui="${name}" type="${type}" value=""${mark}>`,
      );
    }
  }
}
