import { consentLabel } from '../applicant.ts';
import {
  labelled,
  languageLabels,
  locationLabels,
  numbered,
  optional,
  required,
  sourceLabels,
  type Field,
} from '../fields.ts';
import { escapeHtml } from '../pages/html.ts';

/**
 * The questions of an employer's own form. Nearly every question has a different kind of label
 * (`labellings`).
 */
export const genericFields: readonly Field[] = [
  required('fname', 'givenName', 'First name', 'text'),
  required('lname', 'familyName', 'Last name', 'text'),
  required('mail', 'email', 'Email', 'text'),
  optional('tel', 'phone', 'Phone', 'text'),
  optional('linked_in', 'linkedin', 'LinkedIn', 'text'),
  required('city', 'location', 'Location (City)', 'combobox', {
    options: numbered(31, ...locationLabels),
  }),
  required('cv', 'resume', 'Resume', 'file'),
  required('q1', 'authorised', 'Are you legally authorized to work in Ireland?', 'radio', {
    options: numbered(1, 'No', 'Yes'),
  }),
  required('q2', 'source', 'How did you hear about this job?', 'select', {
    options: numbered(11, ...sourceLabels),
  }),
  required('q3', 'languages', 'Which languages do you speak?', 'checkboxes', {
    options: labelled(...languageLabels),
    isMultiple: true,
  }),
  required('q4', 'startDate', 'Earliest start date', 'date'),
  required('q5', 'motivation', 'Why do you want to work here?', 'textarea'),
  required('privacy', 'consent', consentLabel, 'checkbox', { options: labelled('yes') }),
];

type Labelling = (field: Field) => string;

const text = ({ label, isRequired }: Field): string =>
  `${escapeHtml(label)}${isRequired ? ' *' : ' (optional)'}`;
const mark = ({ isRequired }: Field): string => (isRequired ? ' required' : '');
const wrap = (html: string): string => `<div class="field">${html}</div>`;

const byFor: Labelling = (field) =>
  wrap(
    `<label for="${field.name}-1">${text(field)}</label><input id="${field.name}-1" name="${field.name}"${mark(field)}>`,
  );

const byWrappingLabel: Labelling = (field) =>
  wrap(
    `<label><span>${text(field)}</span> <input type="text" name="${field.name}"${mark(field)}></label>`,
  );

const byAriaLabel: Labelling = (field) =>
  wrap(
    `<input type="email" name="${field.name}" aria-label="${text(field)}" autocomplete="email"${mark(field)}>`,
  );

const byPlaceholder: Labelling = (field) =>
  wrap(`<input type="tel" name="${field.name}" placeholder="${text(field)}"${mark(field)}>`);

const byTitle: Labelling = (field) =>
  wrap(`<input type="url" name="${field.name}" title="${text(field)}"${mark(field)}>`);

/** The hidden input next to the combobox is sent with the form. */
const combobox: Labelling = (field) =>
  wrap(
    `<label for="${field.name}">${text(field)}</label><div class="combo"><input id="${field.name}" role="combobox" aria-expanded="false" aria-haspopup="listbox" aria-autocomplete="list" autocomplete="off" aria-required="${field.isRequired}"><input type="hidden" name="${field.name}"></div>`,
  );

const fileByFor: Labelling = (field) =>
  wrap(
    `<label for="${field.name}-1">${text(field)}</label><input type="file" id="${field.name}-1" name="${field.name}"${mark(field)}>`,
  );

const byLegend: Labelling = (field) =>
  `<fieldset class="field"><legend>${text(field)}</legend>${(field.options ?? [])
    .map(
      ({ label, value }) =>
        `<label><input type="radio" name="${field.name}" value="${value}"${mark(field)}> ${escapeHtml(label)}</label>`,
    )
    .join('')}</fieldset>`;

const byTableCell: Labelling = (field) =>
  wrap(
    `<table><tr><td>${text(field)}</td><td><select name="${field.name}"${mark(field)}><option value="">Please choose</option>${(
      field.options ?? []
    )
      .map(({ label, value }) => `<option value="${value}">${escapeHtml(label)}</option>`)
      .join('')}</select></td></tr></table>`,
  );

const byLabelledby: Labelling = (field) =>
  wrap(
    `<p id="${field.name}-label">${text(field)}</p><div role="group" aria-labelledby="${field.name}-label">${(
      field.options ?? []
    )
      .map(
        ({ label, value }, index) =>
          `<input type="checkbox" id="${field.name}-${index}" name="${field.name}" value="${value}"><label for="${field.name}-${index}">${escapeHtml(label)}</label>`,
      )
      .join('')}</div>`,
  );

const byTerm: Labelling = (field) =>
  wrap(
    `<dl><dt>${text(field)}</dt><dd><input type="date" name="${field.name}"${mark(field)}></dd></dl>`,
  );

const byTextBefore: Labelling = (field) =>
  wrap(`<p>${text(field)}</p><textarea name="${field.name}" rows="4"${mark(field)}></textarea>`);

const byLabelAfter: Labelling = (field) =>
  wrap(
    `<input type="checkbox" id="${field.name}" name="${field.name}" value="yes"${mark(field)}> <label for="${field.name}">${escapeHtml(field.label)} *</label>`,
  );

const labellings: Readonly<Record<string, Labelling>> = {
  fname: byFor,
  lname: byWrappingLabel,
  mail: byAriaLabel,
  tel: byPlaceholder,
  linked_in: byTitle,
  city: combobox,
  cv: fileByFor,
  q1: byLegend,
  q2: byTableCell,
  q3: byLabelledby,
  q4: byTerm,
  q5: byTextBefore,
  privacy: byLabelAfter,
};

export function genericWidget(field: Field): string {
  return (labellings[field.name] ?? byFor)(field);
}
