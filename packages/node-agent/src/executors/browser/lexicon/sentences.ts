/**
 * Sentences about an application, in ten languages (CONTRACT 10). Each pattern matches whole words
 * of the text that `plainText` returns.
 */

/** Lower case, without apostrophes; each run of other characters than letters and digits is a blank. */
function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/['’ʼ`´]/gu, '')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
}

function anyOf(...patterns: readonly string[]): RegExp {
  return new RegExp(
    `(?<![\\p{L}\\p{M}\\p{N}])(?:${patterns.join('|')})(?![\\p{L}\\p{M}\\p{N}])`,
    'u',
  );
}

/** The parts of a text between its full stops, as plain text. */
function clausesOf(text: string): string[] {
  return text
    .split(/[.!?;:…。\n]+(?=\s|$)/u)
    .map(plainText)
    .filter((clause) => clause !== '');
}

/** The site has the application: thanks for it, or its receipt. */
const received = anyOf(
  // English
  'thank(?:s| you)(?: so much| very much)? for (?:applying|(?:your|the|this|submitting (?:your|an|the)|sending (?:us )?(?:your|an|the)) (?:job )?(?:application|submission))',
  'thank(?:s| you)(?: so much| very much)? for submitting(?= |$)(?! (?:to|a|any))',
  '(?:your |the |this )?(?:job )?(?:application|submission|form|response) (?:has been |have been |was |is )?(?:now )?(?:successfully |safely )?(?:submitted|received|sent|recorded|delivered)(?: successfully)?',
  '(?:application|submission) (?:complete|completed|successful|success)',
  'we(?: have|ve)?(?: successfully)? (?:received|got) your (?:job )?(?:application|submission|cv|resume)',
  '(?:youve|you have|you) (?:successfully |now |just )*(?:applied|submitted your application|completed your application)',
  'successfully (?:submitted|applied|sent)',
  // German
  '(?:vielen |herzlichen |besten )?dank(?:e)?(?: schön)? für (?:(?:ihre|deine|die|eure) (?:online ?)?bewerbung|(?:ihr|dein) interesse und (?:ihre|deine) bewerbung)',
  'danke(?:,)? dass (?:sie|du) (?:sich|dich) (?:bei uns )?beworben (?:haben|hast)',
  '(?:ihre|deine|die) (?:online ?)?bewerbung (?:wurde|ist|haben wir|hat uns) (?:soeben |nun |jetzt )?(?:erfolgreich )?(?:bei uns )?(?:gesendet|versendet|verschickt|versandt|abgeschickt|abgesendet|übermittelt|übertragen|eingereicht|eingegangen|empfangen|erhalten|angekommen|erreicht|gespeichert und versendet)',
  'wir haben (?:ihre|deine) (?:online ?)?bewerbung (?:soeben |erfolgreich )?(?:erhalten|empfangen)',
  'bewerbung (?:erfolgreich )?(?:gesendet|versendet|verschickt|abgeschickt|übermittelt|eingereicht|eingegangen|erhalten)',
  '(?:sie haben|du hast) (?:sich|dich) erfolgreich beworben',
  // French
  '(?:nous vous remercions|merci|un grand merci|merci beaucoup) (?:pour|de|davoir envoyé|davoir soumis) (?:votre|ta|lenvoi de votre) candidature',
  'merci davoir (?:postulé|candidaté)',
  '(?:votre|ta|la) candidature (?:a bien été|a été|est bien|est) (?:bien |correctement )?(?:envoyée|reçue|transmise|enregistrée|déposée|soumise|prise en compte|parvenue)(?: avec succès)?',
  'nous avons (?:bien )?reçu (?:votre|ta) candidature',
  'candidature (?:bien )?(?:envoyée|reçue|transmise|enregistrée|déposée|soumise)(?: avec succès)?',
  // Spanish
  '(?:muchas )?gracias por (?:(?:enviar|presentar|completar) )?(?:tu|su|la|enviarnos tu|enviarnos su) (?:solicitud|candidatura|postulación|aplicación)',
  'gracias por (?:postular(?:te|se)?|aplicar|inscribir(?:te|se)|solicitar (?:el|este) (?:empleo|puesto))',
  '(?:tu|su|la) (?:solicitud|candidatura|postulación|aplicación|inscripción) (?:ha sido|fue|se ha|se) (?:enviada|enviado|recibida|recibido|registrada|registrado|presentada|presentado|envió|recibió|completada|completado)(?: correctamente| con éxito)?',
  '(?:hemos|ya hemos) recibido (?:tu|su) (?:solicitud|candidatura|postulación|aplicación)',
  'recibimos (?:tu|su) (?:solicitud|candidatura|postulación|aplicación)',
  '(?:solicitud|candidatura|postulación|aplicación) (?:enviada|recibida|registrada)(?: correctamente| con éxito)?',
  // Portuguese
  '(?:muito )?obrigad[oa] (?:por|pela|pelo envio da|por enviar a|por enviar) (?:(?:a )?sua |tua |se )?(?:candidatura|inscrição|inscrever|candidatar|aplicação)',
  '(?:a )?(?:sua|tua) (?:candidatura|inscrição|aplicação) (?:foi|está) (?:enviada|recebida|registada|registrada|submetida|concluída|realizada)(?: com sucesso)?',
  '(?:recebemos|já recebemos) (?:a )?(?:sua|tua) (?:candidatura|inscrição)',
  '(?:candidatura|inscrição) (?:enviada|recebida|submetida|realizada|concluída)(?: com sucesso)?',
  // Italian
  'grazie (?:mille )?(?:per|per aver inviato|di aver inviato) (?:la )?(?:tua|sua|vostra) candidatura',
  'grazie per (?:esserti candidat[oa]|essersi candidat[oa]|aver(?:e)? inviato la (?:tua|sua) candidatura|la candidatura)',
  '(?:la )?(?:tua|sua|vostra) candidatura (?:è stata|è) (?:inviata|ricevuta|trasmessa|registrata|acquisita)(?: correttamente| con successo)?',
  'abbiamo ricevuto (?:correttamente )?la (?:tua|sua|vostra) candidatura',
  'candidatura (?:inviata|ricevuta|trasmessa|registrata)(?: correttamente| con successo)?',
  // Dutch
  '(?:hartelijk |heel erg )?(?:bedankt|dank(?: je| u)?(?: wel)?|dankjewel|dankuwel) voor (?:je|jouw|uw|het versturen van je|het versturen van uw|het verzenden van je) sollicitatie',
  '(?:bedankt|dank je wel|dank u wel) voor het solliciteren',
  '(?:je|jouw|uw|de) sollicitatie (?:is|werd) (?:succesvol |goed )?(?:verzonden|verstuurd|ontvangen|ingediend|binnengekomen|aangekomen)',
  'we(?: hebben|j hebben) (?:je|jouw|uw) sollicitatie (?:succesvol |goed |in goede orde )?ontvangen',
  'sollicitatie (?:succesvol )?(?:verzonden|verstuurd|ontvangen|ingediend)',
  // Polish
  'dzięku(?:jemy|ję) (?:bardzo )?za (?:(?:przesłanie|wysłanie|złożenie|nadesłanie) )?(?:twojego |twoją |swojej |twojej |pani |pana |państwa )*(?:zgłoszenie|zgłoszenia|aplikację|aplikacji|aplikowanie|kandydatury)',
  '(?:twoje |pani |pana |państwa )?(?:zgłoszenie|podanie) (?:zostało|jest) (?:pomyślnie |poprawnie )?(?:wysłane|przesłane|przyjęte|otrzymane|złożone|zapisane)',
  '(?:twoja |pani |pana |państwa )?(?:aplikacja|kandydatura) (?:została|jest) (?:pomyślnie |poprawnie )?(?:wysłana|przesłana|przyjęta|otrzymana|złożona)',
  'otrzymaliśmy (?:twoje |twoją |pani |pana |państwa )?(?:zgłoszenie|aplikację|podanie)',
  // Swedish
  'tack för (?:din|er|att du skickade din) ansökan',
  'tack för att du (?:har )?(?:sökt|ansökt|sökte)',
  '(?:din|er) ansökan (?:har|är) (?:nu )?(?:skickats|skickad|mottagits|mottagen|tagits emot|registrerats|registrerad|inskickad|kommit fram)',
  'vi har (?:nu )?(?:tagit emot|mottagit|fått) din ansökan',
  'ansökan (?:har )?(?:skickats|skickad|mottagen|inskickad)',
  // Danish
  '(?:mange )?tak for (?:din|jeres|at du sendte din) ansøgning',
  'tak fordi du (?:har )?(?:søgt|ansøgt|søgte)',
  '(?:din|jeres) ansøgning (?:er|blev) (?:nu )?(?:blevet )?(?:sendt|modtaget|indsendt|registreret)',
  'vi har (?:nu )?modtaget din ansøgning',
  'ansøgning(?:en)? (?:er )?(?:sendt|modtaget|indsendt)',
);

/** The whole text is thanks, without saying for what. It counts only if the form has gone. */
const bareThanks =
  /^(?:thank you|thanks|thank you very much|many thanks|success|all done|danke|vielen dank|herzlichen dank|merci|merci beaucoup|gracias|muchas gracias|obrigado|obrigada|muito obrigado|muito obrigada|grazie|grazie mille|bedankt|dank je wel|dank u wel|hartelijk bedankt|dziękujemy|dziękuję|tack|tack så mycket|mange tak|tak)(?: \p{L}[\p{L}\p{M} ]{0,40})?$/u;

/** A word before the receipt that makes it a condition, a promise or a question. */
const conditional = anyOf(
  'once|when|whenever|after|if|until|before|unless|as soon as|how|whether|will be|why',
  'sobald|wenn|nachdem|falls|bevor|sofern|ob|bis|nach eingang',
  'quand|lorsque|dès que|après que|après|si|avant|une fois',
  'cuando|una vez|después|si|antes|tan pronto|en cuanto',
  'quando|assim que|depois|após|se|antes|uma vez|logo que',
  'una volta|dopo|prima|non appena|qualora',
  'zodra|wanneer|nadat|als|voordat|indien',
  'gdy|kiedy|po|jeśli|jeżeli|zanim|jak tylko',
  'när|efter|om|innan|så snart|så fort',
  'når|efter|hvis|inden|så snart|før',
);

/** The application does not count yet: the applicant still has to do something. */
const notYet = anyOf(
  // English
  '(?:in order )?to (?:complete|finish|finalize|finalise|submit|continue) (?:your|the|this) (?:job )?(?:application|submission)',
  'to (?:complete|finish) (?:it|the process|applying)',
  '(?:one|just one|1|a few|two|some) (?:last |final |more )(?:thing|step|steps|question|questions)',
  '(?:almost|nearly) (?:done|there|finished|complete)',
  '(?:application|submission) (?:is|was|has) (?:not|still|yet)(?: yet| been)* (?:complete|completed|submitted|finished|incomplete|pending confirmation|received|sent)',
  '(?:application|submission) (?:is|remains) (?:incomplete|unfinished|a draft)',
  '(?:application|submission|form) (?:has been |was |is )?(?:saved|stored)(?: as (?:a )?draft)?',
  'complete (?:the )?(?:remaining|following|next|missing)',
  'please (?:complete|finish|answer|correct|fix|fill)',
  '(?:could not|cannot|can not|couldnt|unable to|failed to|did not|not) (?:be )?(?:submit|submitted|send|sent|process|processed|save|saved|complete|completed)',
  'something went wrong|an error (?:has )?occurred|try again',
  // German
  'um (?:ihre|deine|die) bewerbung (?:abzuschließen|zu vervollständigen|abzusenden|einzureichen|zu bestätigen|fertigzustellen)',
  'noch (?:nicht (?:abgeschlossen|vollständig|eingereicht|gesendet|versendet|fertig)|ein(?:en)? (?:letzter |letzten |weiterer )?schritt|wenige schritte)',
  '(?:fast|beinahe) (?:fertig|geschafft|abgeschlossen)',
  '(?:bewerbung|formular) (?:ist|wurde) (?:nicht|als entwurf)',
  'bitte (?:vervollständigen|beantworten|korrigieren|füllen|ergänzen)',
  'fehler ist aufgetreten|etwas ist schief(?:gelaufen|gegangen)|(?:versuchen|versuche|probieren) (?:sie |es )+(?:später )?(?:erneut|noch einmal|nochmals)',
  // French
  'pour (?:finaliser|terminer|compléter|valider|confirmer|envoyer) (?:votre|ta|la) candidature',
  '(?:plus quune|encore une|une dernière) étape|presque (?:terminé|fini)|nest pas (?:encore )?(?:complète|terminée|finalisée|envoyée|validée)',
  'na pas (?:pu être|été) (?:envoyée|transmise|enregistrée)|une erreur (?:est survenue|sest produite)|veuillez (?:réessayer|compléter|corriger|répondre)',
  // Spanish
  'para (?:completar|finalizar|terminar|confirmar|enviar) (?:tu|su|la) (?:solicitud|candidatura|postulación|aplicación|inscripción)',
  '(?:un|solo un|sólo un|un último) paso más|(?:un|el) último paso|casi (?:listo|terminado|has terminado)|(?:aún|todavía) no (?:está|ha sido|se ha)',
  'no (?:se )?(?:ha podido|pudo|ha sido) (?:enviar|enviarse|enviada|ser enviada|procesar)|(?:se ha producido|ocurrió|ha ocurrido) un error|(?:por favor )?(?:completa|complete|responde|responda|corrige|corrija) (?:el|la|los|las)|(?:inténtalo|inténtelo|intenta|intente) de nuevo',
  // Portuguese
  'para (?:completar|concluir|finalizar|terminar|confirmar|enviar) (?:a )?(?:sua|tua) (?:candidatura|inscrição)',
  '(?:falta )?(?:só )?mais um passo|última etapa|quase (?:pronto|lá|terminado)|ainda não (?:está|foi)',
  'não (?:foi possível|pôde ser|foi) (?:enviar|enviada|concluída|processar)|ocorreu um erro|tente novamente',
  // Italian
  'per (?:completare|finalizzare|terminare|confermare|inviare) la (?:tua|sua) candidatura',
  '(?:ancora un|un ultimo|solo un) passaggio|ultimo passaggio|ci sei quasi|quasi (?:fatto|finito)|non è (?:ancora )?(?:completa|stata)',
  'non è stato possibile inviare|si è verificato un errore|riprova',
  // Dutch
  'om (?:je|jouw|uw|de) sollicitatie (?:af te ronden|te voltooien|te bevestigen|te versturen|compleet te maken)',
  '(?:nog één|nog een|nog 1|een laatste) stap|bijna (?:klaar|gereed)|nog niet (?:compleet|voltooid|verzonden|afgerond|verstuurd)',
  'kon niet worden (?:verzonden|verstuurd)|er is (?:iets misgegaan|een fout opgetreden)|er ging iets mis|probeer het opnieuw',
  // Polish
  'aby (?:dokończyć|zakończyć|potwierdzić|wysłać|ukończyć|sfinalizować) (?:(?:twoje |swoje |swoją |twoją )?(?:zgłoszenie|aplikację|aplikowanie|rekrutację))',
  '(?:jeszcze jeden|ostatni) krok|prawie (?:gotowe|skończone)|(?:jeszcze )?nie (?:zostało|została|jest) (?:jeszcze )?(?:wysłane|wysłana|ukończone|zakończone|kompletne)',
  'nie udało się|wystąpił błąd|spróbuj ponownie',
  // Swedish
  'för att (?:slutföra|bekräfta|skicka|komplettera|färdigställa) (?:din|ansökan)',
  '(?:ett|bara ett) steg (?:kvar|till)|sista steget|nästan (?:klar|klart|framme)|(?:är|har) inte (?:ännu )?(?:klar|skickats|komplett|slutförd)',
  'kunde inte skickas|något gick fel|ett fel (?:har )?(?:uppstod|uppstått|inträffade)|försök igen',
  // Danish
  'for at (?:fuldføre|færdiggøre|bekræfte|sende|afslutte) (?:din|ansøgningen)',
  '(?:et|kun et) (?:skridt|trin) (?:mere|tilbage)|sidste (?:trin|skridt)|næsten (?:færdig|i mål)|(?:er|blev) (?:endnu )?ikke (?:endnu )?(?:sendt|fuldført|komplet|færdig)',
  'kunne ikke (?:sendes|gemmes)|noget gik galt|der (?:opstod|er sket) en fejl|prøv igen',
);

/** The applicant must confirm by a link or a code in an e-mail before the application counts. */
const confirmByMail = anyOf(
  '(?:confirm|verify|validate) your (?:e ?mail|application by (?:clicking|following|using))',
  '(?:click|follow|use|open) (?:on )?(?:the|this|that) (?:confirmation |verification |activation )?link (?:in|we|that|sent)[\\p{L} ]*(?:confirm|verify|complete|finish|activate|submit|validate|e ?mail|inbox)',
  '(?:enter|type) the (?:\\d+ digit )?(?:verification |confirmation |security )?code (?:we|that|sent|from)',
  'bestätigen sie (?:bitte )?ihre (?:e ?mail|bewerbung)|bestätige (?:bitte )?deine (?:e ?mail|bewerbung)|(?:klicken sie|klicke) (?:bitte )?auf den (?:bestätigungs ?)?link',
  '(?:confirmez|confirme|confirmer|validez|vérifiez) (?:votre|ton) (?:adresse )?(?:e ?mail|courriel|adresse électronique)|cliquez sur le lien',
  '(?:confirma|confirme|verifica|verifique) (?:tu|su) (?:dirección de )?(?:correo|e ?mail)|(?:haz|haga) clic en el enlace',
  '(?:confirme|confirma|verifique|valide) (?:o )?(?:seu|teu) (?:endereço de )?e ?mail|clique (?:no|na) (?:link|ligação|hiperligação)',
  '(?:conferma|confermi|verifica|verifichi) (?:il tuo|il suo|la tua|la sua|l) ?(?:indirizzo )?(?:e ?mail)|(?:clicca|clicchi) sul link',
  '(?:bevestig|verifieer) (?:je|jouw|uw) (?:e ?mail ?(?:adres)?|sollicitatie)|klik op de (?:bevestigings ?)?link',
  '(?:potwierdź|zweryfikuj) (?:swój |twój )?(?:adres )?e ?mail|kliknij (?:w )?(?:link|odnośnik)',
  '(?:bekräfta|verifiera) din e ?post(?: ?adress)?|klicka på länken',
  '(?:bekræft|verificer) din (?:e ?mail|mail)(?: ?adresse)?|klik på linket',
);

/** A sentence about something other than the application. */
const aside = anyOf(
  'newsletter|alerts?|job ?alarm|talent (?:pool|community)|alertes?|alertas?|avvisi|nieuwsbrief|powiadomienia|nyhetsbrev|nyhedsbrev|jobbagent|jobagent',
);

/** The site has refused the application, for example because it has one already. */
const refused = anyOf(
  '(?:have |has |youve |you )?already (?:been )?(?:applied|submitted|received)|duplicate application|flagged as (?:possible )?spam|(?:been )?blocked|not accepted|(?:unable to|could not|cannot|did not) accept|reached the (?:limit|maximum number) of applications',
  'bereits (?:[\\p{L}\\p{N} ]{0,40} )?(?:beworben|eine bewerbung|eingereicht|eingegangen)|(?:liegt|ist) bereits (?:eine bewerbung )?vor',
  '(?:avez|as) déjà (?:postulé|candidaté|envoyé)|candidature (?:existe déjà|déjà (?:envoyée|reçue|existante))',
  'ya (?:te has|se ha|te habías|has|ha) (?:postulado|inscrito|aplicado|enviado|solicitado)|ya existe una (?:solicitud|candidatura)',
  'já (?:se )?(?:candidatou|inscreveu|enviou|existe uma candidatura)',
  'hai già (?:inviato|presentato|candidato)|ti sei già candidat[oa]|si è già candidat[oa]|candidatura (?:già|esiste già)',
  '(?:al|reeds) (?:gesolliciteerd|een sollicitatie)',
  'już (?:aplikowałeś|aplikowałaś|zaaplikowałeś|zaaplikowałaś|wysłałeś|wysłałaś|złożono|aplikowano)',
  'redan (?:sökt|ansökt|skickat|en ansökan)',
  'allerede (?:søgt|ansøgt|sendt|en ansøgning)',
);

/** The posting takes no applications any more. */
const closed = anyOf(
  // English
  '(?:job|position|posting|role|vacancy|opening|opportunity|requisition|listing|ad|offer) (?:posting |opening |listing )?(?:(?:has|have)(?: already| now| since)? (?:been )?|is |was )(?:now |already |currently |unfortunately )?(?:no longer (?:available|open|active|accepting(?: new)? applications|online|posted)|filled|closed|expired|removed|archived|taken down|unpublished|inactive|deactivated|not available|unavailable)',
  '(?:job|position|posting|vacancy) no longer exists?',
  '(?:no longer|not currently|currently not) (?:accepting|taking) (?:new |any |any more |further )?applications',
  '(?:applications|application period)(?: for this (?:job|position|role))? (?:are|is|have|has) (?:now |already |been )*(?:closed|ended|over)',
  '(?:job|position|posting|vacancy) (?:was |could )?not (?:be )?found|(?:job|position|vacancy) does(?:nt| not) exist(?: any ?more)?',
  // German
  '(?:stelle|position|stellenanzeige|stellenausschreibung|stellenangebot|anzeige|ausschreibung|vakanz|job) (?:ist|wurde)(?: leider| bereits| inzwischen| schon)* (?:nicht mehr (?:verfügbar|aktuell|aktiv|online|vakant|offen|ausgeschrieben)|besetzt|vergeben|geschlossen|abgelaufen|archiviert|deaktiviert|entfernt|gelöscht)',
  'bewerbungsfrist ist (?:bereits |leider )?abgelaufen|(?:nehmen|werden) (?:wir )?(?:leider )?keine (?:weiteren )?bewerbungen mehr',
  // French
  '(?:offre|poste|annonce)(?: demploi)? (?:nest|nétait) plus (?:disponible|en ligne|ouverte?|active?|dactualité)',
  '(?:offre|poste|annonce)(?: demploi)? (?:a été|est(?: désormais| déjà| maintenant)*) (?:pourvue?|expirée?|clôturée?|fermée?|archivée?|supprimée?)|nous nacceptons plus (?:de )?candidatures?',
  // Spanish
  '(?:oferta|vacante|puesto|posición|empleo)(?: de (?:empleo|trabajo))? ya no (?:está|se encuentra) (?:disponible|activa|activo|abierta|abierto)|(?:oferta|vacante|puesto|posición)(?: de (?:empleo|trabajo))? (?:ha sido|ha|fue|está)(?: ya| sido)* (?:cubierta|cubierto|cerrada|cerrado|expirado|expirada|caducado|caducada|eliminada)|ya no (?:se aceptan|aceptamos) (?:más )?(?:solicitudes|candidaturas)',
  // Portuguese
  '(?:vaga|oferta|posição|anúncio|função)(?: de emprego)? (?:já não está|não está mais) (?:disponível|ativa|ativo|aberta|aberto)|(?:vaga|oferta|posição|anúncio|função)(?: de emprego)? (?:foi|está|já foi) (?:preenchida|preenchido|encerrada|encerrado|fechada|fechado|expirada|expirado)|(?:candidaturas|inscrições) encerradas',
  // Italian
  '(?:offerta|posizione|annuncio|ricerca)(?: di lavoro)? non è più (?:disponibile|attiva|attivo|aperta|aperto)|(?:offerta|posizione|annuncio|ricerca)(?: di lavoro)? (?:è stata|è stato|è) (?:già )?(?:chiusa|chiuso|scaduta|scaduto|ricoperta|coperta)|candidature (?:sono )?chiuse',
  // Dutch
  '(?:vacature|functie|positie) is (?:helaas |inmiddels |reeds |al )*(?:niet (?:langer|meer) (?:beschikbaar|open|actief)|vervuld|gesloten|verlopen|ingevuld)|niet meer mogelijk om te solliciteren',
  // Polish
  '(?:oferta|ogłoszenie|rekrutacja|stanowisko)(?: pracy)? (?:jest|zostało|została)(?: już)? (?:nieaktualne|nieaktualna|zakończona|zakończone|zamknięta|zamknięte|nieaktywna|nieaktywne|niedostępna|niedostępne|obsadzone)|(?:oferta|ogłoszenie)(?: pracy)? wygasł[ao]|nie przyjmujemy już (?:zgłoszeń|aplikacji)',
  // Swedish
  '(?:tjänsten|annonsen|jobbet|rekryteringen) (?:är|har) (?:inte längre (?:tillgänglig|tillgängligt|aktiv|aktuell|öppen)|tillsatt|tillsatts|stängd|avslutad|avslutats|gått ut|borttagen)|ansökningstiden har gått ut',
  // Danish
  '(?:stilling|stillingen|job|jobbet|jobopslag|jobopslaget|annonce|annoncen) er (?:desværre |allerede )?(?:ikke længere (?:tilgængelig|tilgængeligt|aktiv|aktivt|opslået|åben)|besat|lukket|udløbet)|ansøgningsfristen er (?:overskredet|udløbet)',
);

/** The page asks the visitor to sign in, or to make an account, before the application. */
const signIn = anyOf(
  '(?:please |you (?:must|need to|have to|should) )?(?:sign|log) ?in(?: or (?:register|sign up|create an account))? (?:to|before|in order to) (?:apply|continue|proceed|start|submit|you apply|applying)',
  '(?:please |you (?:must|need to|have to) )?(?:create|register for|make) an? (?:candidate |applicant |new )?(?:account|profile) (?:to|before) (?:apply|continue|proceed|start|submit|you apply|applying)',
  '(?:sign in|log in) or (?:register|sign up|create an account)|already have an account sign in',
  '(?:melden sie sich|melde dich|bitte (?:melden sie sich )?(?:anmelden|einloggen)|loggen sie sich|logge dich)[\\p{L} ]{0,30}(?:zu bewerben|bewerben|fortzufahren)|(?:erstellen sie|erstelle) ein (?:bewerber ?)?(?:konto|profil)|anmelden oder registrieren',
  '(?:connectez vous|identifiez vous|créez un compte)(?: ou [\\p{L} ]{1,30})? (?:pour|afin de) (?:postuler|candidater|continuer)',
  '(?:inicia|inicie) sesión (?:o [\\p{L} ]{1,30} )?para (?:postular(?:te)?|aplicar|continuar|solicitar|inscribirte)|(?:crea|cree) una cuenta para',
  '(?:inicie|faça|entre)[\\p{L} ]{0,20} (?:sessão|login|conta) para (?:se )?(?:candidatar|continuar|inscrever)|crie uma conta para',
  '(?:accedi|acceda|effettua il login|registrati)(?: o [\\p{L} ]{1,30})? per (?:candidarti|candidarsi|continuare|inviare)',
  '(?:log in|meld je aan|maak een account)(?: of [\\p{L} ]{1,30})? om te (?:solliciteren|verder te gaan)|om te solliciteren',
  'zaloguj się(?: lub [\\p{L} ]{1,30})? (?:aby|żeby) (?:aplikować|kontynuować)|(?:załóż|utwórz) konto aby',
  'logga in(?: eller [\\p{L} ]{1,30})? för att (?:söka|ansöka|fortsätta)|skapa ett konto för att',
  'log ind(?: eller [\\p{L} ]{1,30})? for at (?:søge|ansøge|fortsætte)|opret en (?:konto|profil) for at',
);

/** The page shows a check against bots instead of its content. */
const botCheck = anyOf(
  'verify (?:that )?you are (?:a )?human|verifying you are human|not a robot|are you a robot|human verification|checking your browser|just a moment|press and hold|security check|attention required|enable javascript and cookies to continue|unusual (?:traffic|activity)|access (?:to this page )?(?:has been )?denied|captcha',
  'kein roboter|ich bin kein roboter|dass sie ein mensch sind|sicherheitsüberprüfung|einen moment',
  'pas un robot|êtes humain|vérification de sécurité|no soy un robot|eres humano|não sou um robô|non sono un robot|geen robot|nie jestem robotem|inte en robot|ikke en robot',
);

/** True if a sentence of the text says that the site has the application. */
export function saysReceived(text: string): boolean {
  return clausesOf(text).some((clause) => {
    const found = received.exec(clause);
    return found !== null && !conditional.test(clause.slice(0, found.index));
  });
}

export function saysThanks(text: string): boolean {
  return bareThanks.test(plainText(text));
}

/** True if the text takes a receipt back (CONTRACT 10, "At most once"). */
export function saysNotYet(text: string): boolean {
  return clausesOf(text).some((clause) => notYet.test(clause) && !aside.test(clause));
}

export function saysConfirmByMail(text: string): boolean {
  return clausesOf(text).some((clause) => confirmByMail.test(clause) && !aside.test(clause));
}

export function saysRefused(text: string): boolean {
  return refused.test(plainText(text));
}

export function saysClosed(text: string): boolean {
  return clausesOf(text).some((clause) => {
    const found = closed.exec(clause);
    return found !== null && !conditional.test(clause.slice(0, found.index));
  });
}

export function saysSignIn(text: string): boolean {
  return signIn.test(plainText(text));
}

export function saysBotCheck(text: string): boolean {
  return botCheck.test(plainText(text));
}
