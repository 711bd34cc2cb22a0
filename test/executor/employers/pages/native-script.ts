/**
 * The script of a native form, which the browser itself sends. With `data.isDoubled`, the script
 * sends the application again when the browser leaves the page.
 */
export const nativeScript = String.raw`
app.form = function () { return document.querySelector(app.data.form); };
app.hasValue = function (field) {
  return new FormData(app.form()).getAll(field.name).some(function (value) {
    return value instanceof File ? value.name !== '' : value !== '';
  });
};
app.refuse = function (fields) {
  document.querySelectorAll('.shown-error').forEach(function (element) { element.remove(); });
  fields.forEach(function (field) {
    var input = app.form().querySelector('[name="' + field.name + '"]');
    input.setAttribute('aria-invalid', 'true');
    var shown = document.createElement('div');
    shown.className = 'shown-error ' + app.data.errorClass;
    shown.textContent = 'This field is required.';
    input.closest(app.data.wrapper).append(shown);
  });
};
app.sendForm = function () {
  var missing = app.data.fields.filter(function (field) {
    return field.isRequired && !app.hasValue(field);
  });
  if (missing.length) { app.refuse(missing); return; }
  if (app.data.isDoubled) addEventListener('pagehide', function () {
    navigator.sendBeacon(app.form().action, new FormData(app.form()));
  });
  var token = window.captchaToken ? window.captchaToken() : Promise.resolve('');
  token.then(function (value) {
    var response = app.form().querySelector('[name$="-captcha-response"], [name$="-turnstile-response"]');
    if (response) response.value = value;
    app.form().submit();
  });
};
app.on('click', app.data.submit, function (button, event) {
  event.preventDefault();
  app.sendForm();
});
app.on('submit', app.data.form, function (form, event) { event.preventDefault(); app.sendForm(); });
`;
