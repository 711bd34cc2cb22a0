/**
 * `app.submit` sends the application by `fetch`, twice if `data.isDoubled` is true. The page must
 * set `app.submissionBody`, `app.showErrors` and `app.answered`.
 */
export const submitScript = String.raw`
app.isSending = false;
app.sendApplication = function (body) {
  return fetch(app.data.submitUrl, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body)
  }).then(function (answer) {
    return answer.text().then(function (text) {
      var parsed = {};
      try { parsed = JSON.parse(text); } catch (error) { parsed = {}; }
      app.answered(answer.status, parsed);
    });
  });
};
app.submit = function () {
  var missing = app.fieldsNotAnswered();
  if (missing.length || app.pendingUploads) {
    app.showErrors(missing.map(function (field) {
      return { name: field.name, message: 'This field is required.' };
    }));
    return;
  }
  if (app.isSending) return;
  app.isSending = true;
  var token = window.captchaToken ? window.captchaToken() : Promise.resolve('');
  token.then(function (value) {
    var body = app.submissionBody(value);
    var again = function () { app.isSending = false; };
    app.sendApplication(body).then(again, again);
    if (app.data.isDoubled) app.sendApplication(body).catch(function () {});
  });
};
/** One message behind each widget, and the widget marked as invalid. */
app.showFieldErrors = function (errors, className) {
  document.querySelectorAll('.shown-error').forEach(function (element) { element.remove(); });
  document.querySelectorAll('[aria-invalid=true]').forEach(function (element) {
    element.setAttribute('aria-invalid', 'false');
  });
  errors.forEach(function (error) {
    var input = document.getElementById(error.name) || document.querySelector('[name="' + error.name + '"]');
    if (!input) return;
    input.setAttribute('aria-invalid', 'true');
    var shown = document.createElement('p');
    shown.id = error.name + '-error';
    shown.className = 'shown-error ' + className;
    shown.textContent = error.message;
    input.closest(app.data.wrapper).append(shown);
  });
};
app.showPage = function (html) {
  var root = document.querySelector(app.data.root);
  root.innerHTML = html;
};
`;
