import { describe, expect, test } from 'vitest';
import {
  saysBotCheck,
  saysClosed,
  saysConfirmByMail,
  saysNotYet,
  saysReceived,
  saysRefused,
  saysSignIn,
  saysThanks,
} from './sentences.ts';

/** The sentences of pages in ten languages (CONTRACT 10). */

describe('a receipt', () => {
  test.each([
    'Thanks for your application!',
    'Thank you for applying to Acme, Maya.',
    'Thank you! We’ve received your application and will be in touch.',
    'Your application has been successfully submitted.',
    'Application submitted',
    'You have successfully applied for Data Engineer',
    'Your response has been recorded.',
    'Vielen Dank für Ihre Bewerbung!',
    'Wir haben Ihre Bewerbung erhalten und melden uns bald.',
    'Deine Bewerbung wurde erfolgreich versendet.',
    'Ihre Bewerbung ist bei uns eingegangen.',
    'Merci pour votre candidature !',
    'Votre candidature a bien été envoyée.',
    'Nous avons bien reçu votre candidature.',
    '¡Gracias por tu solicitud!',
    'Tu candidatura ha sido enviada correctamente.',
    'Hemos recibido tu candidatura',
    'Obrigado pela sua candidatura!',
    'A sua candidatura foi enviada com sucesso.',
    'Recebemos a sua candidatura.',
    'Grazie per la tua candidatura!',
    'La tua candidatura è stata inviata con successo.',
    'Abbiamo ricevuto la tua candidatura.',
    'Bedankt voor je sollicitatie!',
    'Je sollicitatie is verzonden.',
    'We hebben je sollicitatie ontvangen.',
    'Dziękujemy za przesłanie zgłoszenia!',
    'Twoja aplikacja została wysłana.',
    'Otrzymaliśmy Twoje zgłoszenie.',
    'Tack för din ansökan!',
    'Din ansökan har skickats.',
    'Vi har tagit emot din ansökan.',
    'Tak for din ansøgning!',
    'Din ansøgning er sendt.',
    'Vi har modtaget din ansøgning.',
  ])('%s', (text) => {
    expect(saysReceived(text)).toBe(true);
    expect(saysNotYet(text)).toBe(false);
    expect(saysRefused(text)).toBe(false);
    expect(saysClosed(text)).toBe(false);
    expect(saysConfirmByMail(text)).toBe(false);
  });

  test.each([
    'Once we have received your application, we will contact you.',
    'Your application will be sent soon',
    'Submit application',
    'Thank you for your interest in Acme.',
    'Your application has not been submitted.',
    'Sobald wir Ihre Bewerbung erhalten haben, melden wir uns.',
    'Ihre Bewerbung wurde nicht versendet.',
    'Dès que nous avons reçu votre candidature, nous vous répondons.',
    'Cuando hemos recibido tu solicitud, te escribimos.',
    'Thank you for considering applying',
    'How your application is received and read',
  ])('not: %s', (text) => {
    expect(saysReceived(text)).toBe(false);
  });
});

test.each(['Thank you!', 'Thanks, Maya!', 'Vielen Dank', 'Merci', 'Gracias', 'Tack!'])(
  'bare thanks: %s',
  (text) => {
    expect(saysThanks(text)).toBe(true);
  },
);

test.each([
  'To complete your application, confirm your address.',
  'One more step',
  'You are almost done!',
  'Your application is not complete yet',
  'Please answer the questions below',
  'Your application has been saved as a draft',
  'Um Ihre Bewerbung abzuschließen, bestätigen Sie Ihre Adresse.',
  'Fast geschafft!',
  'Pour finaliser votre candidature, cliquez ici.',
  'Para completar tu solicitud, responde.',
  'Para concluir a sua candidatura, responda.',
  'Per completare la tua candidatura, rispondi.',
  'Om je sollicitatie af te ronden, klik hier.',
  'Aby dokończyć zgłoszenie, kliknij.',
  'För att slutföra din ansökan, klicka.',
  'For at fuldføre din ansøgning, klik.',
  'Something went wrong. Try again later.',
])('takes thanks back: %s', (text) => {
  expect(saysNotYet(text)).toBe(true);
});

test.each([
  'Please confirm your email address.',
  'Click the link in the email we sent to confirm.',
  'Bitte bestätigen Sie Ihre E-Mail-Adresse.',
  'Confirmez votre adresse e-mail.',
  'Confirma tu correo',
  'Confirme o seu e-mail',
  'Conferma il tuo indirizzo e-mail',
  'Bevestig je e-mailadres',
  'Potwierdź swój adres e-mail',
  'Bekräfta din e-postadress',
  'Bekræft din e-mail',
])('asks to confirm by e-mail: %s', (text) => {
  expect(saysConfirmByMail(text)).toBe(true);
});

test.each([
  'A confirmation email has been sent to you.',
  'You will receive a confirmation by email.',
  'Confirm your email to get job alerts.',
])('asks for no confirmation: %s', (text) => {
  expect(saysConfirmByMail(text)).toBe(false);
});

test.each([
  'You have already applied for this position.',
  'Sie haben sich bereits beworben.',
  'Vous avez déjà postulé à cette offre.',
  'Ya te has postulado',
  'Já se candidatou a esta vaga',
  'Ti sei già candidato',
  'Je hebt al gesolliciteerd',
  'Już aplikowałeś',
  'Du har redan sökt',
  'Du har allerede søgt',
])('a refusal: %s', (text) => {
  expect(saysRefused(text)).toBe(true);
});

test.each([
  "We're sorry, this position has been filled.",
  'This job is no longer available.',
  'We are no longer accepting applications for this role.',
  'Diese Stelle ist leider nicht mehr verfügbar.',
  'Cette offre a été pourvue.',
  "Cette offre n'est plus disponible.",
  'Esta oferta ya no está disponible.',
  'Esta vaga já não está disponível.',
  'Questa posizione non è più disponibile.',
  'Deze vacature is helaas gesloten.',
  'Ta oferta jest już nieaktualna.',
  'Tjänsten är tillsatt.',
  'Stillingen er besat.',
])('a closed posting: %s', (text) => {
  expect(saysClosed(text)).toBe(true);
});

test.each([
  'This position is available in Berlin.',
  'Cette offre est disponible.',
  'Esta oferta está disponible.',
  'Questa posizione è aperta.',
  'Oferta jest dostępna.',
  'When the position is filled, we close the posting.',
])('an open posting: %s', (text) => {
  expect(saysClosed(text)).toBe(false);
});

test.each([
  'Sign in to apply',
  'Please log in or create an account to continue',
  'You need to create an account before you apply',
  'Melden Sie sich an, um sich zu bewerben',
  'Connectez-vous pour postuler',
  'Inicia sesión para aplicar',
  'Inicie sessão para se candidatar',
  'Accedi per candidarti',
  'Log in om te solliciteren',
  'Zaloguj się, aby aplikować',
  'Logga in för att söka',
  'Log ind for at søge',
])('a sign-in wall: %s', (text) => {
  expect(saysSignIn(text)).toBe(true);
});

test('a check against bots', () => {
  expect(saysBotCheck('Verify you are human by completing the action below.')).toBe(true);
  expect(saysBotCheck('We are a humane employer.')).toBe(false);
});
