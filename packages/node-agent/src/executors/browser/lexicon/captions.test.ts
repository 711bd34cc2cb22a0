import { expect, test } from 'vitest';
import { captions, type CaptionKind } from './captions.ts';

const is = (kind: CaptionKind, caption: string): boolean =>
  new RegExp(captions[kind], 'u').test(caption) &&
  (kind === 'other' || !new RegExp(captions.other, 'u').test(caption));

test.each<[CaptionKind, readonly string[]]>([
  [
    'submit',
    [
      'submit application',
      'apply for this job',
      'send',
      'bewerbung absenden',
      'jetzt bewerben',
      'absenden',
      'envoyer ma candidature',
      'postuler',
      'enviar solicitud',
      'inscribirme',
      'enviar candidatura',
      'candidatar se',
      'invia candidatura',
      'candidati ora',
      'sollicitatie versturen',
      'solliciteren',
      'wyślij zgłoszenie',
      'aplikuj',
      'skicka ansökan',
      'skicka in ansökan',
      'send ansøgning',
      'indsend',
    ],
  ],
  [
    'next',
    [
      'next',
      'save and continue',
      'continue to review',
      'weiter',
      'speichern und weiter',
      'suivant',
      'enregistrer et continuer',
      'siguiente',
      'guardar y continuar',
      'próxima etapa',
      'avanti',
      'salva e continua',
      'volgende',
      'opslaan en doorgaan',
      'dalej',
      'zapisz i kontynuuj',
      'nästa',
      'spara och fortsätt',
      'næste',
      'gem og fortsæt',
    ],
  ],
  [
    'entry',
    [
      'apply now',
      'apply manually',
      'jetzt bewerben',
      'postuler maintenant',
      'aplicar ahora',
      'candidate se agora',
      'candidati ora',
      'solliciteer direct',
      'aplikuj teraz',
      'ansök nu',
      'søg stillingen',
    ],
  ],
  [
    'other',
    [
      'back',
      'cancel',
      'choose file',
      'upload resume',
      'apply with linkedin',
      'continue with google',
      'save draft',
      'datei auswählen',
      'zurück',
      'mit xing bewerben',
      'parcourir',
      'adjuntar archivo',
      'carregar cv',
      'sfoglia',
      'bestand uploaden',
      'wybierz plik',
      'välj fil',
      'vælg fil',
      'forrige',
    ],
  ],
])('the captions of the kind %s, in ten languages', (kind, all) => {
  expect(all.filter((caption) => !is(kind, caption))).toEqual([]);
});

test('a button that sends the application is no next step, and the reverse', () => {
  expect(is('next', 'submit application') || is('next', 'bewerbung absenden')).toBe(false);
  expect(is('submit', 'weiter') || is('submit', 'save and continue')).toBe(false);
  expect(is('submit', 'submit and continue')).toBe(false);
});

test.each([
  'apply with indeed',
  'continue with apple',
  'apply filter',
  'send me alerts',
  'sök',
  'sign in',
])('a button "%s" neither sends the application nor leads to the form', (caption) => {
  const kinds: readonly CaptionKind[] = ['submit', 'next', 'entry'];
  expect(kinds.filter((kind) => is(kind, caption))).toEqual([]);
});
