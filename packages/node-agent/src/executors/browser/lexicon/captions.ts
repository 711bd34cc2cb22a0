/**
 * The captions of buttons, in ten languages (CONTRACT 10). A pattern matches a whole caption, as
 * `captionOf` returns it. The page gets the patterns as data.
 */

const union = (...patterns: readonly string[]): string => `^(?:${patterns.join('|')})$`;

/** A button that sends the application. */
const submit = union(
  // English
  '(?:submit|send|complete|finish)(?: (?:my|your|the|this))?(?: (?:job )?(?:application|form|resume|cv))?(?: now)?',
  'apply(?: now| online| here| today)?(?: (?:for|to) (?:this|the) (?:job|position|role|vacancy))?|confirm(?: (?:and|amp) (?:send|submit|apply))?|(?:review|agree|accept) (?:and|amp) (?:submit|send|apply)|(?:submit|send) (?:and|amp) (?:apply|finish)|apply (?:and|amp) (?:submit|send)',
  // German
  '(?:jetzt |online |hier )?bewerben|(?:(?:ihre |deine |meine )?(?:bewerbung|bewerbungsunterlagen|formular|daten) )?(?:jetzt |verbindlich )?(?:absenden|abschicken|einreichen|senden|versenden|verschicken|übermitteln|abschließen)|(?:bewerbung|jetzt) (?:absenden|abschicken|einreichen|senden|bewerben)',
  // French
  '(?:je )?postule[rz]?(?: maintenant| en ligne| à cette offre| à ce poste)?|(?:envoyer|soumettre|déposer|transmettre|valider|finaliser|terminer)(?: (?:ma|votre|la|sa))?(?: candidature| formulaire| le formulaire)?|jenvoie ma candidature',
  // Spanish
  '(?:enviar|presentar|finalizar|completar|mandar)(?: (?:mi|tu|su|la))?(?: (?:solicitud|candidatura|postulación|aplicación|inscripción|formulario))?|postular(?:me|se|te)?(?: ahora)?|aplicar(?: ahora| a este puesto)?|inscribir(?:me|se|te)(?: ahora)?|solicitar(?: empleo| puesto| ahora)?',
  // Portuguese
  '(?:enviar|submeter|finalizar|concluir|completar)(?: (?:a )?(?:minha|sua|tua))?(?: (?:candidatura|inscrição|formulário))?|candidatar(?: me| se)?(?: agora| à vaga)?|candidate se(?: agora)?|inscrever(?: me| se)?|quero me candidatar',
  // Italian
  '(?:invia|inviare|conferma e invia|completa|presenta|invia la|invia la tua|invia la mia)(?: (?:candidatura|domanda|modulo|richiesta))?|candidati(?: ora| adesso| subito)?|candidarsi',
  // Dutch
  '(?:sollicitatie|formulier|mijn sollicitatie|je sollicitatie) (?:versturen|verzenden|indienen|insturen|afronden)|(?:verstuur|verzend|versturen|verzenden|indienen)(?: (?:mijn |je |uw |de )?(?:sollicitatie|formulier))?|solliciteer(?: nu| direct)?|(?:nu )?solliciteren',
  // Polish
  '(?:wyślij|prześlij|złóż|wysyłam)(?: (?:moje |swoje |swoją )?(?:zgłoszenie|aplikację|podanie|cv|formularz))?|aplikuj(?: teraz| online| na to stanowisko)?|zaaplikuj',
  // Swedish
  '(?:skicka|sänd|lämna)(?: in)?(?: (?:min |din )?(?:ansökan|ansökning|formulär))?|ansök(?: nu| här)?|sök (?:jobbet|tjänsten)',
  // Danish
  '(?:send|indsend|afsend)(?: (?:min |din )?(?:ansøgning|ansøgningen|formular))?|ansøg(?: nu| her)?|søg (?:jobbet|stillingen)',
);

/** A button that leads to the next step of the same form. */
const next = union(
  '(?:next|continue|proceed|go on|forward)(?: (?:step|page|to .{1,60}|application|section))?|next .{1,60}|(?:save|submit) (?:and|amp) (?:continue|next|proceed|go to next.{0,20})|save continue|(?:review|preview)(?: (?:and continue|(?:my |your )?application))?|start(?: (?:your |my )?application)?',
  '(?:weiter|fortfahren|fortsetzen|nächster schritt|nächste seite|zum nächsten schritt|nächste)(?: (?:zu|zum|zur) .{1,60})?|(?:speichern|sichern|übernehmen) (?:und|amp|u) (?:weiter|fortfahren|fortsetzen)|(?:bewerbung )?(?:überprüfen|prüfen)',
  '(?:suivant|suivante|continuer|poursuivre|étape suivante|page suivante|passer à .{1,60})|(?:enregistrer|sauvegarder|valider) et (?:continuer|poursuivre)|vérifier(?: ma candidature)?',
  '(?:siguiente|continuar|seguir|próximo|siguiente paso|paso siguiente)(?: a .{1,60})?|(?:guardar|grabar) y (?:continuar|seguir)|revisar(?: (?:mi )?solicitud)?',
  '(?:próximo|próxima|seguinte|continuar|avançar|prosseguir|próxima etapa|próximo passo|passo seguinte|página seguinte)|(?:salvar|guardar|gravar) e (?:continuar|avançar)|rever(?: candidatura)?',
  '(?:avanti|continua|prosegui|successivo|successiva|passo successivo|pagina successiva)|salva e (?:continua|prosegui)|(?:rivedi|riepilogo)',
  '(?:volgende|verder|doorgaan|ga verder|naar de volgende stap|volgende stap|volgende pagina|ga door)|opslaan en (?:doorgaan|verder|verdergaan)|controleren',
  '(?:dalej|następny|następna|kontynuuj|przejdź dalej|następny krok|następna strona)|zapisz i (?:kontynuuj|przejdź dalej|dalej)|podsumowanie',
  '(?:nästa|fortsätt|gå vidare|vidare|nästa steg|nästa sida)|spara och (?:fortsätt|gå vidare)|granska(?: ansökan)?',
  '(?:næste|fortsæt|videre|gå videre|næste trin|næste skridt|næste side)|gem og (?:fortsæt|gå videre)|gennemse(?: ansøgning)?',
);

/** A link or a button that leads from the posting to the application form. */
const entry = union(
  'apply|apply (?:now|here|online|today|manually|directly)|apply (?:for|to) (?:this |the )?(?:job|position|role|vacancy|opening|opportunity)|apply for (?:this )?(?:job|position|role) (?:now|online)|start (?:your |my )?application|i m interested|im interested|fill (?:in|out) (?:the )?(?:application )?form',
  '(?:jetzt |online |hier |direkt |jetzt online |hier online |auf diese stelle )?bewerben|(?:zum |zur )(?:bewerbungsformular|online bewerbung|bewerbung)|bewerbung starten|bewirb dich(?: jetzt| hier)?|jetzt bewerbung starten',
  '(?:je )?postule[rz]?(?: maintenant| en ligne| à cette offre| à ce poste| ici)?|déposer (?:ma|une) candidature|candidater',
  '(?:postular|aplicar|solicitar|inscribirse|inscribirme|postularme|postularse)(?: ahora| a este puesto| a esta oferta)?|solicitar (?:empleo|puesto|este empleo)',
  '(?:candidatar|candidatar se|candidate se|candidatar me|inscrever se|inscreva se)(?: agora| à vaga| a esta vaga)?|enviar candidatura',
  'candidati(?: ora| adesso| subito| per questa posizione)?|invia (?:la tua )?candidatura|candidarsi',
  'solliciteer(?: nu| direct| hier| op deze functie| op deze vacature)?|(?:direct |nu |online )?solliciteren',
  'aplikuj(?: teraz| online| na to stanowisko)?|wyślij (?:cv|zgłoszenie)',
  'ansök(?: nu| här| här nu)?|sök (?:jobbet|tjänsten)(?: nu| här)?',
  'ansøg(?: nu| her| om stillingen)?|søg (?:jobbet|stillingen|job)(?: nu| her)?|send ansøgning',
);

/** A button with another purpose: it never sends the application and is no next step. */
const other = union(
  '(?:go )?back(?: to .{1,60})?|previous(?: (?:step|page))?|cancel|close|dismiss|reset|clear(?: (?:all|form|selection))?|remove.{0,40}|delete.{0,40}|edit.{0,40}|add.{0,40}|browse.{0,20}|attach.{0,40}|upload.{0,60}|choose.{0,40}|select.{0,40}|replace.{0,40}|enter manually|paste.{0,20}|dropbox|google drive|from device|save|save (?:draft|for later|as draft|progress|and exit)|share.{0,40}|print|copy.{0,20}|log ?in.{0,40}|sign ?in.{0,40}|sign ?up.{0,40}|register|create.{0,40}|forgot.{0,40}|subscribe.{0,40}|search|find.{0,20}|(?:apply|autofill|continue|fill) with .{1,40}|import.{0,40}|parse.{0,20}|accept.{0,20}|reject.{0,20}|decline.{0,20}|learn more|show .{1,40}|hide .{1,40}|view .{1,40}|help|refer.{0,40}',
  'zurück.{0,40}|abbrechen|schließen|zurücksetzen|löschen|entfernen|bearbeiten|hinzufügen|.{1,40} hinzufügen|datei(?:en)? (?:auswählen|hochladen|wählen|anhängen)|durchsuchen|.{0,40}hochladen|.{0,40}auswählen|speichern|(?:entwurf|zwischen)(?: ?speichern)?|teilen|drucken|anmelden|einloggen|registrieren|suchen|mit .{1,30} bewerben|(?:alle )?(?:akzeptieren|ablehnen)',
  'retour|précédent|annuler|fermer|réinitialiser|effacer|supprimer|modifier|ajouter.{0,40}|parcourir|choisir.{0,40}|télécharger.{0,40}|téléverser.{0,40}|joindre.{0,40}|enregistrer|partager|imprimer|se connecter|connexion|sinscrire|rechercher|(?:postuler|continuer) avec .{1,30}',
  'volver|atrás|anterior|cancelar|cerrar|borrar|eliminar|editar|añadir.{0,40}|agregar.{0,40}|examinar|elegir.{0,40}|seleccionar.{0,40}|subir.{0,40}|cargar.{0,40}|adjuntar.{0,40}|guardar|compartir|imprimir|iniciar sesión|registrarse|buscar|(?:aplicar|postular) con .{1,30}',
  'voltar|fechar|limpar|remover|excluir|adicionar.{0,40}|procurar|escolher.{0,40}|selecionar.{0,40}|carregar.{0,40}|anexar.{0,40}|salvar|partilhar|compartilhar|entrar|pesquisar|(?:candidatar se|aplicar) com .{1,30}',
  'indietro|annulla|chiudi|cancella|rimuovi|elimina|modifica|aggiungi.{0,40}|sfoglia|scegli.{0,40}|seleziona.{0,40}|carica.{0,40}|allega.{0,40}|salva|condividi|stampa|accedi|registrati|cerca|candidati con .{1,30}',
  'terug|vorige|annuleren|sluiten|wissen|verwijderen|bewerken|toevoegen|.{1,40} toevoegen|bladeren|kies.{0,40}|selecteer.{0,40}|upload.{0,40}|.{1,40} uploaden|opslaan|delen|afdrukken|inloggen|registreren|zoeken|(?:solliciteer|solliciteren) (?:met|via) .{1,30}',
  'wstecz|powrót|wróć|anuluj|zamknij|wyczyść|usuń|edytuj|dodaj.{0,40}|przeglądaj|wybierz.{0,40}|załącz.{0,40}|prześlij plik|zapisz|udostępnij|drukuj|zaloguj się|zarejestruj się|szukaj|aplikuj (?:z|przez) .{1,30}',
  'tillbaka|föregående|avbryt|stäng|rensa|ta bort|redigera|lägg till.{0,40}|bläddra|välj.{0,40}|ladda upp.{0,40}|bifoga.{0,40}|spara|dela|skriv ut|logga in|registrera|sök|ansök med .{1,30}',
  'tilbage|forrige|annuller|luk|ryd|fjern|slet|rediger|tilføj.{0,40}|gennemse filer|vælg.{0,40}|upload.{0,40}|vedhæft.{0,40}|gem|del|udskriv|log ind|registrer|søg|ansøg med .{1,30}',
);

/** Words of a button that sends a form which is no application. They may be a part of the caption. */
const elsewhere =
  '(?:^| )(?:subscribe|sign up|register(?! (?:your |my |an )?interest(?: |$))|newsletter|alerts?|notify|log in|login|sign in|search|find|abonnieren|anmelden|einloggen|registrieren|suchen|jobalarm|sabonner|se connecter|connexion|sinscrire|rechercher|suscribir(?:se|me)?|iniciar sesión|registrarse|buscar|subscrever|entrar|pesquisar|iscriviti|accedi|registrati|cerca|abonneren|inloggen|registreren|zoeken|zapisz się|zaloguj|szukaj|prenumerera|logga in|tilmeld|log ind)(?: |$)';

export const captions = { submit, next, entry, other, elsewhere } as const;
export type CaptionKind = keyof typeof captions;
