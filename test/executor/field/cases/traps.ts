import { applicant } from '../applicant.ts';
import type { FieldCase } from '../field-case.ts';
import { applyUrl, completes, formPage, standardReceived } from './form.ts';

/**
 * Ways to hide a field from people and not from programs. In each text, FIELD stands for the field.
 */
const traps: Readonly<Record<string, string>> = {
  'trap-off-screen-fixed': '<div style="position:fixed;left:-500vw">FIELD</div>',
  'trap-transparent-box': '<div style="opacity:0;position:absolute;height:20px">FIELD</div>',
  'trap-scaled-to-nothing': '<div style="transform:scale(0)">FIELD</div>',
  'trap-clipped-circle': '<div style="clip-path:circle(0)">FIELD</div>',
  'trap-moved-out-of-box':
    '<div style="overflow:hidden;height:1px"><p style="margin-top:60px">FIELD</p></div>',
  'trap-under-box':
    '<div style="position:relative;height:90px"><div style="position:absolute">FIELD</div><div style="position:absolute;inset:0;background:#fff"></div></div>',
};

const field = '<label for="w">Website</label><input id="w" name="website">';

export const trapCases: readonly FieldCase[] = Object.entries(traps).map(([id, box]) => ({
  id,
  url: applyUrl,
  page: formPage(box.replace('FIELD', field)),
  profile: applicant,
  expected: completes(standardReceived({ website: '' })),
}));
