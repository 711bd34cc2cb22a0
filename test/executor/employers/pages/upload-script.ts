/**
 * Uploads a file when a person chooses it, and shows its name when the server has stored it. The
 * page sends the address of the file with the application.
 */
export const uploadScript = String.raw`
app.showUpload = function (input, text, state) {
  var shown = document.getElementById(input.id + '-upload');
  shown.textContent = text;
  shown.className = 'file-upload__' + state;
  shown.setAttribute('role', state === 'error' ? 'alert' : 'status');
};
app.on('change', 'input[type=file]', function (input) {
  var file = input.files[0];
  if (!file || !app.byName[input.id]) return;
  var form = new FormData();
  form.append('key', input.id);
  form.append('file', file);
  app.pendingUploads += 1;
  app.showUpload(input, 'Uploading...', 'progress');
  fetch(app.data.uploadUrl, { method: 'POST', body: form })
    .then(function (answer) {
      return answer.ok ? answer.json() : Promise.reject(new Error('refused'));
    })
    .then(function (kept) {
      app.uploads[input.id] = { url: kept.url, filename: file.name };
      app.showUpload(input, file.name, 'filename');
    }, function () {
      input.value = '';
      app.showUpload(input, 'The file could not be uploaded. This file type is not accepted.', 'error');
    })
    .then(function () { app.pendingUploads -= 1; app.render(); });
});
`;

/** A script with which the page refuses every chosen file, before anything is sent. */
export const refuseFileScript = String.raw`
app.on('change', 'input[type=file]', function (input) {
  if (!input.files.length) return;
  input.value = '';
  input.setAttribute('aria-invalid', 'true');
  var shown = document.createElement('p');
  shown.className = 'error';
  shown.setAttribute('role', 'alert');
  shown.textContent = 'This file type is not accepted.';
  (input.closest('.field, .application-question') || input.parentElement).append(shown);
});
`;
