import { answers, applicant, resume } from '../applicant.ts';
import type { FieldCase } from '../field-case.ts';
import { applyUrl, completes, formPage, standardReceived } from './form.ts';

const { email } = applicant.basics;
const dated = { ...applicant, ...answers({ 'Available from': '2027-02-01' }) };

const send = (target: string): string =>
  `<script>document.getElementById("go").onclick=async()=>{const f={};for(const i of document.querySelectorAll("${target} input"))f[i.name]=i.type==="file"?i.files[0]?.name:i.value;await fetch("/submit",{method:"POST",body:JSON.stringify(f)});document.body.innerHTML="<h1>Thank you for applying</h1>"}</script>`;

const boxFields =
  '<div><label>Full name <input name="n" required></label></div><div><label>Email <input name="e" type="email" required></label></div><div><label>CV <input name="f" type="file" required></label></div>';
const boxReceived = completes({ n: 'Maya Okafor', e: email, f: { file: resume.name } });
const newsletter =
  '<aside><label>Your email <input name="news" type="email"></label><button type="button">Subscribe</button></aside>';

const pages: Readonly<Record<string, Partial<FieldCase> & Pick<FieldCase, 'page' | 'expected'>>> = {
  'box-beside-newsletter': {
    page: `<main><div>${boxFields}<button type="button" id="go">Apply now</button></div></main>${newsletter}${send('main')}`,
    expected: boxReceived,
  },
  'box-with-sections': {
    page: `<main><section>${boxFields}</section><section><label>Phone <input name="p"></label></section><footer><div role="button" tabindex="0" id="go">Submit application</div></footer></main>${send('main')}`,
    expected: completes({
      n: 'Maya Okafor',
      e: email,
      f: { file: resume.name },
      p: applicant.basics.phone,
    }),
  },
  'button-beside-form': {
    page: `<main><form onsubmit="return false">${boxFields}</form><div><button type="button" id="go">Submit application</button></div></main>${send('main')}`,
    expected: boxReceived,
  },
  'referee-fieldset': {
    page: formPage(
      '<fieldset><legend>Referee</legend><label>Name <input name="rn" autocomplete="name"></label><label>Email <input name="re" type="email"></label><label>Phone <input name="rp" type="tel"></label></fieldset>',
    ),
    expected: completes(standardReceived({ rn: '', re: '', rp: '' })),
  },
  'emergency-contact-heading': {
    page: formPage(
      '<div><h3>Emergency contact</h3><p><label>Full name <input name="rn"></label></p><p><label>Phone number <input name="rp"></label></p></div>',
    ),
    expected: completes(standardReceived({ rn: '', rp: '' })),
  },
  'former-employer-german': {
    lang: 'de',
    page: formPage(
      '<section><div><h4>Früherer Arbeitgeber</h4></div><p><label>Name <input name="rn"></label></p><p><label>Telefon <input name="rp"></label></p></section>',
    ),
    expected: completes(standardReceived({ rn: '', rp: '' })),
  },
  'date-french-hint': {
    profile: dated,
    page: formPage(
      '<p><label for="d">Available from (JJ/MM/AAAA)</label><input id="d" name="d" required pattern="[0-9]{2}/[0-9]{2}/[0-9]{4}"></p>',
    ),
    expected: completes(standardReceived({ d: '01/02/2027' })),
  },
  'date-dutch-description': {
    profile: dated,
    page: formPage(
      '<p><label for="d">Available from</label><input id="d" name="d" aria-describedby="h" required pattern="[0-9]{2}-[0-9]{2}-[0-9]{4}"><small id="h">dd-mm-jjjj</small></p>',
    ),
    expected: completes(standardReceived({ d: '01-02-2027' })),
  },
  'date-three-inputs': {
    profile: dated,
    page: formPage(
      '<fieldset><legend>Available from *</legend><label>Jour <input name="dd" required></label><label>Mois <input name="mm" required></label><label>Année <input name="yy" required></label></fieldset>',
    ),
    expected: completes(standardReceived({ dd: '01', mm: '02', yy: '2027' })),
  },
  'date-german-months': {
    profile: dated,
    page: formPage(
      '<div role="group" aria-label="Available from"><select name="yy" aria-label="Jahr" required><option value="">-</option><option>2026</option><option>2027</option></select><select name="mm" aria-label="Monat" required><option value="">-</option><option value="a">Januar</option><option value="b">Februar</option></select><select name="dd" aria-label="Tag" required><option value="">-</option><option>01</option><option>02</option></select></div>',
    ),
    expected: completes(standardReceived({ dd: '01', mm: 'b', yy: '2027' })),
  },
  'labels-french': {
    lang: 'fr',
    page: '<form method="post" action="/submit" enctype="multipart/form-data"><label>Nom <input name="a" required></label><label>Prénom <input name="b" required></label><label>Adresse e-mail <input name="c" required></label><label>Confirmez votre adresse e-mail <input name="d" required></label><label>Joindre votre CV <input name="e" type="file" required></label><button>Send</button></form>',
    expected: completes({ a: 'Okafor', b: 'Maya', c: email, d: email, e: { file: resume.name } }),
  },
  'labels-polish': {
    lang: 'pl',
    page: '<form method="post" action="/submit" enctype="multipart/form-data"><label>Imię i nazwisko <input name="a" required></label><label>Adres e-mail (wymagane) <input name="c" required></label><label>Numer telefonu <input name="p" required></label><label>Życiorys (PDF, max. 5 MB) <input name="e" type="file" required></label><button>Send</button></form>',
    expected: completes({
      a: 'Maya Okafor',
      c: email,
      p: { digits: '14155550142' },
      e: { file: resume.name },
    }),
  },
  'radios-named-by-question': {
    profile: { ...applicant, ...answers({ 'Do you have a licence?': 'No' }) },
    page: formPage(
      '<div role="radiogroup" aria-labelledby="q" aria-required="true"><b id="q">Do you have a licence?</b><div role="radio" tabindex="0" aria-checked="false" aria-labelledby="q o1" onclick="pick(this)"><span id="o1">Yes</span></div><div role="radio" tabindex="0" aria-checked="false" aria-labelledby="q o2" onclick="pick(this)"><span id="o2">No</span></div><input type="hidden" name="lic" id="lic"></div>',
      '<script>function pick(o){for(const r of document.querySelectorAll("[role=radio]"))r.setAttribute("aria-checked",r===o);lic.value=o.textContent}</script>',
    ),
    expected: completes(standardReceived({ lic: 'No' })),
  },
  'star-beside-label': {
    page: formPage(
      '<div><span>*</span><span id="lq">Notice period</span><input name="np" aria-labelledby="lq"></div>',
    ),
    expected: { outcome: 'failed', code: 'invalid_payload', names: ['Notice period'] },
  },
};

export const readingCases: readonly FieldCase[] = Object.entries(pages).map(([id, one]) => ({
  id,
  url: applyUrl,
  profile: applicant,
  ...one,
}));
