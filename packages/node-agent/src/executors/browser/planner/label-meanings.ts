import type { FieldRole } from './form-model.ts';

/**
 * Labels of the standard fields in the ten commonest languages of postings, in addition to those of
 * the contract's schema (CONTRACT 10). The comparison is that of `normaliseLabel`.
 */
export const labelMeanings: Readonly<Partial<Record<FieldRole, readonly string[]>>> = {
  givenName: split(
    'Legal first name | Your first name | First name(s) | Vorname | Vornamen | Ihr Vorname | Prénom | Prénoms | Votre prénom | Nombre de pila | Nombres | Primeiro nome | Voornaam | Imię | Imiona | Förnamn | Fornavn',
  ),
  familyName: split(
    'Legal last name | Your last name | Last name(s) | Nachname | Familienname | Zuname | Nom de famille | Votre nom de famille | Apellido | Apellidos | Sobrenome | Apelido | Último nome | Cognome | Achternaam | Familienaam | Nazwisko | Efternamn | Efternavn',
  ),
  fullName: split(
    'Full legal name | Legal name | Complete name | Candidate name | First and last name | Vor- und Nachname | Vor- und Zuname | Vollständiger Name | Ihr Name | Nom complet | Nom et prénom | Prénom et nom | Nombre completo | Nombre y apellidos | Nome completo | Nome e cognome | Nome e sobrenome | Volledige naam | Voor- en achternaam | Imię i nazwisko | Fullständigt namn | För- och efternamn | Fulde navn | For- og efternavn | Nom | Nombre | Nome | Naam | Namn | Navn',
  ),
  email: split(
    'Email again | Repeat email | Repeat your email | Retype email | Re-enter email | Re-enter your email | Reenter email | Confirm email | Confirm your email | Confirm e-mail | Confirm email address | Confirm your email address | Email confirmation | Verify email | Verify email address | Your email address | E-mail (confirm) | E-Mail-Adresse | E-Mail Adresse | Ihre E-Mail-Adresse | Ihre E-Mail | E-Mail wiederholen | E-Mail bestätigen | E-Mail-Adresse wiederholen | E-Mail-Adresse bestätigen | Courriel | Adresse e-mail | Adresse email | Adresse électronique | Adresse courriel | Votre e-mail | Confirmer l’e-mail | Confirmez votre e-mail | Confirmez votre adresse e-mail | Confirmation de l’e-mail | Correo electrónico | Correo | Dirección de correo electrónico | Confirmar correo electrónico | Confirma tu correo electrónico | Repetir correo electrónico | Endereço de e-mail | Correio eletrónico | Confirmar e-mail | Confirme o e-mail | Confirme seu e-mail | Repita o e-mail | Indirizzo e-mail | Indirizzo email | Posta elettronica | Conferma e-mail | Conferma email | Conferma indirizzo e-mail | E-mailadres | E-mail adres | Bevestig e-mail | Bevestig e-mailadres | Herhaal e-mailadres | Adres e-mail | Adres email | Potwierdź e-mail | Potwierdź adres e-mail | Powtórz adres e-mail | E-postadress | E-post | Bekräfta e-post | Bekräfta e-postadress | Upprepa e-postadress | E-mailadresse | Bekræft e-mail | Bekræft e-mailadresse | Gentag e-mail',
  ),
  phone: split(
    'Contact number | Your phone number | Tel | Telefon | Telefonnummer | Rufnummer | Handynummer | Mobilnummer | Mobiltelefon | Téléphone | Numéro de téléphone | Téléphone portable | Téléphone mobile | Mobile phone (with country code) | Teléfono | Número de teléfono | Teléfono móvil | Móvil | Celular | Telefone | Número de telefone | Telemóvel | Telefone celular | Telefono | Numero di telefono | Cellulare | Telefoonnummer | Telefoon | Mobiel nummer | Numer telefonu | Telefon komórkowy | Mobiltelefonnummer',
  ),
  streetAddress: split(
    'Address line 1 | Adresse | Anschrift | Straße und Hausnummer | Straße | Rue | Dirección | Endereço | Indirizzo | Adres | Straat en huisnummer | Ulica | Adress | Gatuadress',
  ),
  postalCode: split(
    'Post code | Zipcode | Postleitzahl | PLZ | Code postal | Código postal | CEP | CAP | Codice postale | Kod pocztowy | Postnummer',
  ),
  city: split(
    'Stadt | Ort | Wohnort | Ville | Ciudad | Cidade | Città | Woonplaats | Plaats | Stad | Miasto | Miejscowość | Ort | By',
  ),
  region: split(
    'State/Province | Bundesland | Région | Provincia | Provincie | Województwo | Estado | Regione',
  ),
  country: split(
    'Country of residence | Land | Wohnsitzland | Pays | Pays de résidence | País | País de residencia | Paese | Kraj | Kraj zamieszkania',
  ),
  location: split(
    'Current location | Your location | Aktueller Wohnort | Localisation | Ubicación | Localização | Località | Locatie | Lokalizacja',
  ),
  linkedin: split(
    'LinkedIn profile link | Link to your LinkedIn profile | LinkedIn-Profil | Profil LinkedIn | Perfil de LinkedIn | Perfil do LinkedIn | Profilo LinkedIn | LinkedIn-profiel | LinkedIn-profil',
  ),
  website: split(
    'Personal site | Webseite | Website URL | Site web | Sitio web | Site pessoal | Sito web | Strona internetowa | Webbplats | Hjemmeside',
  ),
  coverLetterText: split(
    'Letter of motivation | Motivation letter | Anschreiben | Motivationsschreiben | Bewerbungsschreiben | Lettre de motivation | Carta de presentación | Carta de motivación | Carta de apresentação | Carta de motivação | Lettera di presentazione | Lettera motivazionale | Motivatiebrief | Sollicitatiebrief | List motywacyjny | Personligt brev | Ansøgning | Motiveret ansøgning',
  ),
  resumeFile: split(
    'Your resume | Your CV | Résumé | Attach resume | Attach your resume | Attach CV | Upload your resume | Upload your CV | Resume or CV | CV or resume | CV/Resume | Resume/CV | Upload resume/CV | Lebenslauf | Ihr Lebenslauf | Lebenslauf hochladen | Lebenslauf (PDF) | CV hochladen | Curriculum | Curriculum vitae | Votre CV | Joindre un CV | Joindre votre CV | Télécharger votre CV | Importer votre CV | Currículum | Currículum vítae | Hoja de vida | Adjuntar CV | Sube tu CV | Currículo | Anexar currículo | Carregar CV | Carica CV | Carica il tuo CV | Allega CV | CV uploaden | Upload je cv | Życiorys | Dodaj CV | Załącz CV | Ladda upp CV | Bifoga CV | Vedhæft CV | Upload CV',
  ),
  company: split(
    'Current employer | Aktueller Arbeitgeber | Employeur actuel | Empresa actual | Empresa atual | Azienda attuale | Huidige werkgever | Obecny pracodawca | Nuvarande arbetsgivare | Nuværende arbejdsgiver',
  ),
};

/**
 * Labels of a whole name that mean one part of it, if the form has another field for the other
 * part. Examples are "Nom" with "Prénom", and "Nome" with "Cognome".
 */
export const ambiguousNames: readonly string[] = split(
  'Name | Nom | Nombre | Nome | Naam | Namn | Navn',
);

/** Words in the heading of a block that asks about somebody other than the applicant. */
const others = [
  'referees?|references|reference (?:\\d+|person|contact|details)|(?:professional|personal) reference|emergency|next of kin|(?:legal )?guardian|spouse|(?:former|previous|past|last) (?:employer|manager|supervisor)|(?:line|direct|your) (?:manager|supervisor)|referrer|referred by',
  'referenz(?:en|person|geber)?|notfall(?:kontakt)?|vorgesetzte[rn]?|(?:früherer|ehemaliger|letzter) arbeitgeber|empfohlen von',
  'références|référents?|personne à (?:contacter|prévenir)|urgence|ancien employeur|employeur précédent',
  'referencias?|referências?|emergencia|emergência|(?:anterior|antiguo) empleador|empleador anterior|empregador anterior',
  'referenz[ae]|referente|emergenza|(?:precedente|ex) datore(?: di lavoro)?|datore di lavoro precedente',
  'referenties?|referentiepersoon|noodgeval(?:len)?|vorige werkgever',
  'referencje|osoba polecająca|nagłych|poprzedni pracodawca',
  'referens(?:er|person)?|nödsituation|nödkontakt|tidigare arbetsgivare|referencer|nødsituation|tidligere arbejdsgiver',
].join('|');

/** Headings of lists that may repeat, such as one entry for each employer. */
const lists =
  'work (?:experience|history)|employment(?: history)?|professional experience|experience|education|schools?|languages?|berufserfahrung|ausbildung|bildungsweg|expérience|expériences?|formation|experiencia|educación|experiência|formação|esperienz[ae]|istruzione|werkervaring|opleiding(?:en)?|doświadczenie|wykształcenie|arbetslivserfarenhet|utbildning|erhvervserfaring|uddannelse';

/** A longer heading is more likely the title of a posting. */
const headingWordsMax = 6;
const otherHeading = new RegExp(`(?<!\\p{L})(?:${others})(?!\\p{L})`, 'iu');
const listHeading = new RegExp(`^(?:${lists})(?: \\d+)?$`, 'iu');

/** True if a block with this heading asks about somebody other than the applicant. */
export function isAboutOther(heading: string): boolean {
  return heading.split(/\s+/u).length <= headingWordsMax && otherHeading.test(heading);
}

export function isListHeading(heading: string): boolean {
  return listHeading.test(heading.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim());
}

function split(labels: string): readonly string[] {
  return labels.split(' | ');
}
